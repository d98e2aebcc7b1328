// Lets one source compile as host C++ and as CUDA device code. Everything in arithmetic/ is integer-only and
// free of allocation, exceptions, standard-library containers and host floating point.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define MMAFUZZ_HD __host__ __device__
#else
#define MMAFUZZ_HD
#endif

namespace mmafuzz {

using uint128 = unsigned __int128;

/// Number of bits needed to write v (0 for v = 0).
MMAFUZZ_HD constexpr int bit_length(uint64_t v) {
  int n = 0;
  for (int step = 32; step > 0; step >>= 1) {
    if (v >> step) {
      v >>= step;
      n += step;
    }
  }
  return v ? n + 1 : 0;
}

/// bit_length by the machine's own instruction, for hot paths.
MMAFUZZ_HD inline int fast_bit_length(uint64_t v) {
#if defined(__CUDA_ARCH__)
  return 64 - __clzll(static_cast<long long>(v));
#else
  return v ? 64 - __builtin_clzll(v) : 0;
#endif
}

/// v with the lowest n bits set (n in 0..64).
MMAFUZZ_HD constexpr uint64_t low_mask(int n) { return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; }

template <class T>
MMAFUZZ_HD constexpr T larger(T x, T y) {
  return x < y ? y : x;
}

template <class T>
MMAFUZZ_HD constexpr T smaller(T x, T y) {
  return y < x ? y : x;
}

}  // namespace mmafuzz

// A function that device code calls and does not inline: what the compiler takes for a kernel grows much faster than
// its size.
#if defined(__CUDACC__)
#define MMAFUZZ_HD_CALL MMAFUZZ_HD __noinline__
#else
#define MMAFUZZ_HD_CALL MMAFUZZ_HD
#endif
