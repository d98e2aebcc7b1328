// What an aligning adder (one that shifts all addends to the greatest exponent and truncates them) keeps of an addend.
// Generators use it to choose operands by the sum that they make.
#pragma once

#include "arithmetic/ieee_operations.h"

namespace mmafuzz {

inline constexpr int max_aligned_bits = 60;  ///< width of a sum that a generator chooses, at most

/// A finite value in units of 2^last, truncated toward zero. It is 0 where its magnitude is 2^52 units or more: the
/// generator then makes a case with another sum. A thousand terms below 2^52 and a chosen sum fit int64_t.
inline int64_t aligned_term(const Exact& value, int last) {
  const int up = value.exponent - last;
  const auto magnitude = static_cast<unsigned __int128>(value.significand);
  // From 2^60 units on, so that the shift loses no high bits. (Any limit from 2^52 on would do.)
  if (up > 0 && (up >= max_aligned_bits || magnitude >> (max_aligned_bits - up))) return 0;
  const unsigned __int128 kept = up >= 0 ? magnitude << up : up > -128 ? magnitude >> -up : 0;
  if (kept >> 52) return 0;
  return value.negative ? -static_cast<int64_t>(kept) : static_cast<int64_t>(kept);
}

/// The inverse: the encoding of `units` times 2^last, truncated toward zero to the format and saturated at its greatest
/// number. Zero is positive.
inline uint64_t encode_units(const FormatFields& f, int64_t units, int last) {
  if (units == 0) return f.encode_zero(false);
  Exact value;
  value.cls = NumberClass::finite;
  value.negative = units < 0;
  value.significand = magnitude_of(units);
  value.exponent = last;
  return round_exact(f, value, {.rounding = Rounding::toward_zero, .overflow = Overflow::saturate}).encoding;
}

}  // namespace mmafuzz
