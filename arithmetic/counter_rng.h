// Counter-based random numbers: draw n of stream (seed, index) is a pure function, so that any case can be recomputed
// anywhere, on any number of threads. The mixer is SplitMix64's finalizer (Steele, Lea, Flood, OOPSLA 2014).
#pragma once

#include "arithmetic/host_device.h"

namespace mmafuzz {

class CounterRng {
 public:
  MMAFUZZ_HD CounterRng(uint64_t seed, uint64_t index) : state_(mix(stream(seed) ^ (index * index_factor))) {}

  // Odd factors; golden is 2^64 over the golden ratio. Public for code that draws in vector lanes
  // (oracles/convert/bulk_convert_simd.cc).
  static constexpr uint64_t golden = 0x9e3779b97f4a7c15u, index_factor = 0xd1342543de82ef95u;
  MMAFUZZ_HD static uint64_t stream(uint64_t seed) { return mix(seed + golden); }

  MMAFUZZ_HD uint64_t next() {
    state_ += golden;
    return mix(state_);
  }
  /// Uniform in 0..n-1, n > 0 (the bias of the multiplication method is below 2^-32).
  MMAFUZZ_HD uint32_t below(uint32_t n) {
    return static_cast<uint32_t>((uint64_t{static_cast<uint32_t>(next() >> 32)} * n) >> 32);
  }
  /// Uniform in low..high, both included.
  MMAFUZZ_HD int between(int low, int high) {
    return low + static_cast<int>(below(static_cast<uint32_t>(high - low + 1)));
  }
  /// True with probability 1/n.
  MMAFUZZ_HD bool one_in(uint32_t n) { return below(n) == 0; }

 private:
  MMAFUZZ_HD static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

}  // namespace mmafuzz
