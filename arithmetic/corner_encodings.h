// Encodings placed where arithmetic has corners: near a chosen exponent, with fractions that carries and roundings care
// about, or special. Shared by the generators and the mutator, on host and device.
#pragma once

#include "arithmetic/counter_rng.h"
#include "arithmetic/decode.h"

namespace mmafuzz {

/// A fraction field with a pattern that roundings and carries care about.
MMAFUZZ_HD_CALL inline uint64_t draw_fraction(const FormatFields& f, CounterRng& rng) {
  const uint64_t mask = f.fraction_mask();
  switch (rng.below(8)) {
    case 0: return 0;
    case 1: return mask;                                                        // all ones: the longest carry
    case 2: return mask & (mask - 1);                                           // one ulp below that
    case 3: return 1 & mask;                                                    // one ulp above a power of two
    case 4: return f.fraction_bits ? uint64_t{1} << (f.fraction_bits - 1) : 0;  // 1.5: products of it normalize
    case 5: return f.fraction_bits ? uint64_t{1} << rng.below(f.fraction_bits) : 0;
    default: return rng.next() & mask;
  }
}

/// An encoding whose leading bit weighs about 2^exponent: subnormal below the range, greatest above it.
MMAFUZZ_HD_CALL inline uint64_t encode_near(const FormatFields& f, bool negative, int exponent, uint64_t fraction) {
  uint64_t code;
  const int least = f.emin();
  if (exponent > f.emax()) {
    code = f.greatest_magnitude() - (fraction & 1);
  } else if (exponent >= least) {
    code = smaller((uint64_t(exponent + f.bias) << f.fraction_bits) | fraction, f.greatest_magnitude());
  } else if (f.subnormals == SubnormalRule::absent) {
    code = 0;
  } else {
    const int shift = least - exponent;
    code = shift > f.fraction_bits ? fraction & 1 : ((uint64_t{1} << f.fraction_bits) | fraction) >> shift;
  }
  return f.in_container(code | (negative ? f.sign_bit() : 0));
}

/// Zero, infinity, NaN, greatest, least normal, least or greatest subnormal, of either sign.
MMAFUZZ_HD_CALL inline uint64_t draw_special(const FormatFields& f, CounterRng& rng) {
  const bool negative = rng.next() & 1;
  switch (rng.below(8)) {
    case 0: return f.encode_zero(negative);
    case 1: return f.has_infinity() ? f.encode_infinity(negative) : f.encode_greatest(negative);
    case 2: return f.has_nan() ? f.encode_nan() : f.encode_greatest(negative);
    case 3:
      return f.has_infinity() && f.fraction_bits > 1 ? f.encode_infinity(negative) | f.in_container(1)
                                                     : f.encode_zero(negative);
    case 4: return f.encode_greatest(negative);
    case 5: return f.in_container(uint64_t{1} << f.fraction_bits | (negative ? f.sign_bit() : 0));  // least normal
    case 6: return f.in_container(1 | (negative ? f.sign_bit() : 0));                               // least subnormal
    default: return f.in_container(f.fraction_mask() | (negative ? f.sign_bit() : 0));  // greatest subnormal
  }
}

/// A number near 2^exponent with a patterned fraction, of either sign. Draws are statements: a list of arguments has no
/// order.
MMAFUZZ_HD inline uint64_t draw_near(const FormatFields& f, int exponent, CounterRng& rng) {
  const uint64_t fraction = draw_fraction(f, rng);
  const bool negative = rng.next() & 1;
  return encode_near(f, negative, exponent, fraction);
}

/// The exponent field of an encoding that it alone shows to be a normal number: neither least nor greatest. Else 0.
MMAFUZZ_HD inline int plain_exponent_field(const FormatFields& f, uint64_t encoding) {
  if (f.integer || !f.has_sign()) return 0;
  const int field = static_cast<int>(encoding >> f.ignored_low_bits >> f.fraction_bits) & f.top_exponent_field();
  return field == f.top_exponent_field() ? 0 : field;
}

/// Weight of a number's leading bit; of zero and specials: the format's least exponent.
MMAFUZZ_HD inline int leading_exponent(const FormatFields& f, uint64_t encoding) {
  if (const int field = plain_exponent_field(f, encoding)) return field - f.bias;  // most
  const Number n = decode(f, encoding);
  if (n.cls != NumberClass::finite) return f.emin();
  return n.exponent + fast_bit_length(n.significand) - 1;
}

/// The encoding with its leading bit moved to about 2^exponent; sign and fraction bits stay.
MMAFUZZ_HD_CALL inline uint64_t with_exponent(const FormatFields& f, uint64_t encoding, int exponent) {
  if (const int field = plain_exponent_field(f, encoding)) {  // most: the field alone changes
    const int to = exponent + f.bias;
    if (to > 0 && to < f.top_exponent_field())
      return encoding +
             (static_cast<uint64_t>(static_cast<int64_t>(to - field)) << f.fraction_bits << f.ignored_low_bits);
  }
  const Number n = decode(f, encoding);
  uint64_t fraction = (encoding >> f.ignored_low_bits) & f.fraction_mask();
  if (n.cls == NumberClass::finite && n.subnormal) {  // its leading one becomes the implicit one
    const int up = f.fraction_bits + 1 - fast_bit_length(fraction);
    fraction = (fraction << up) & f.fraction_mask();
  }
  return encode_near(f, n.negative, exponent, fraction) | (encoding & low_mask(f.ignored_low_bits));
}

/// The sign bit as it travels in the container; 0 for formats without signs.
MMAFUZZ_HD inline uint64_t travelling_sign(const FormatFields& f) { return f.in_container(f.sign_bit()); }

}  // namespace mmafuzz
