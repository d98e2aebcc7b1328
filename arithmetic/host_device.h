// Lets one source compile as host C++ and as CUDA device code. Everything in arithmetic/ is integer-only and
// free of allocation, exceptions, standard-library containers and host floating point.
#pragma once

#include <cstdint>

// MMAFUZZ_HD_CALL marks a function that device code calls and does not inline: the time that the compiler takes for a
// CUDA kernel grows much faster than the kernel's size.
#if defined(__CUDACC__)
#define MMAFUZZ_HD __host__ __device__
#define MMAFUZZ_HD_CALL MMAFUZZ_HD __noinline__
#else
#define MMAFUZZ_HD
#define MMAFUZZ_HD_CALL MMAFUZZ_HD
#endif

namespace mmafuzz {

using int128 = __int128;
using uint128 = unsigned __int128;

/// Number of bits needed to write v (0 for v = 0).
MMAFUZZ_HD inline int bit_length(uint64_t v) {
#if defined(__CUDA_ARCH__)
  return 64 - __clzll(static_cast<long long>(v));
#else
  return v ? 64 - __builtin_clzll(v) : 0;
#endif
}
MMAFUZZ_HD inline int bit_length128(uint128 v) {
  const uint64_t high = static_cast<uint64_t>(v >> 64);
  return high ? 64 + bit_length(high) : bit_length(static_cast<uint64_t>(v));
}

/// |v|, also of -2^63.
MMAFUZZ_HD constexpr uint64_t magnitude_of(int64_t v) {
  return v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
}

/// A number whose lowest n bits are set (n of 0 or more; from 64 on all are).
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
