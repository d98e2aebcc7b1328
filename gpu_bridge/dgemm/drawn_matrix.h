// Random fp64 matrices, the same on host and device, element by element: (uniform - 0.5) * exp(phi * normal), as
// Mukunoki et al. 2020 measure. Integer arithmetic alone makes the bits agree.
#pragma once

#include "arithmetic/counter_rng.h"

namespace mmafuzz {

/// phi as drawn_element takes it: phi * log2(e) / 4 in units of 2^-16, that is how far a quarter of the normal number's
/// standard deviation moves log2 of the element.
inline uint32_t spread_of(double phi) { return static_cast<uint32_t>(phi * 1.4426950408889634 / 4 * 65536); }

/// The greatest spread (phi of 8) at which elements and products of two elements stay within fp64's normal numbers.
inline constexpr uint32_t greatest_spread = 189096;

MMAFUZZ_HD inline int ones_of(uint64_t word) {
#if defined(__CUDA_ARCH__)
  return __popcll(word);
#else
  return __builtin_popcountll(word);
#endif
}

/// The encoding of element `index` of a seed's matrix; never zero. The number of ones among 64 random bits, minus 32,
/// stands for the normal number: its standard deviation is 4.
MMAFUZZ_HD inline uint64_t drawn_element(uint64_t seed, uint64_t index, uint32_t spread) {
  CounterRng rng(seed, index);
  const uint64_t random = rng.next();
  const int normal = ones_of(rng.next()) - 32;
  const int32_t power = normal * static_cast<int32_t>(spread);
  const auto f = static_cast<uint32_t>(power & 0xffff);
  // 2^f for f from 0 to 1 by a polynomial that is exact at both ends; f and the factor are in units of 2^-16.
  const uint64_t factor = 0x10000 + ((f * (45552 + ((f * (14931 + ((f * 5053) >> 16))) >> 16))) >> 16);
  const uint64_t uniform = random << 1 | 3;  // from 0 to 1 in units of 2^-64
  // The shift by 47 halves the factor, in units of 2^-64: the magnitude is the factor times half of `uniform`.
  const auto product = static_cast<uint64_t>((static_cast<uint128>(uniform) * (factor << 47)) >> 64);
  const int length = bit_length(product);
  const uint64_t significand = length > 53 ? product >> (length - 53) : product << (53 - length);
  const int exponent = (power >> 16) - 64 + length - 1;  // -64 for the unit of `product`
  return (random >> 63) << 63 | static_cast<uint64_t>(exponent + 1023) << 52 | (significand & low_mask(52));
}

}  // namespace mmafuzz
