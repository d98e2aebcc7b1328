// Encodings placed where arithmetic has corners: near a chosen exponent, with fractions that carries and roundings care
// about, or special. Shared by the generators and the mutator, on host and device.
#pragma once

#include "arithmetic/counter_rng.h"
#include "arithmetic/decode.h"

namespace mmafuzz {

/// A fraction field with a pattern that roundings and carries care about, of 64 random bits. Bits 9 to 11 decide
/// nothing here, and of the fraction random bits are the upper ones.
MMAFUZZ_HD_CALL inline uint64_t patterned_fraction(const FormatFields& f, uint64_t bits) {
  const uint64_t mask = f.fraction_mask();
  switch (bits & 7) {
    case 0: return 0;
    case 1: return mask;               // all ones: the longest carry
    case 2: return mask & (mask - 1);  // one ulp below that
    case 3: return 1 & mask;           // one ulp above a power of two
    case 4: return mask ^ mask >> 1;   // 1.5: products of it normalize
    case 5: return mask & uint64_t{1} << ((bits >> 3 & 63) * f.fraction_bits >> 6);
    default: return bits >> (63 - f.fraction_bits) >> 1;
  }
}
MMAFUZZ_HD inline uint64_t draw_fraction(const FormatFields& f, CounterRng& rng) {
  return patterned_fraction(f, rng.next());
}

/// A magnitude whose leading bit weighs about 2^exponent: subnormal below the range, greatest above it. No sign, no
/// ignored low bits. Without branches, and what it needs of the format is worked out once.
template <class Word>
struct MagnitudeNear {
  int emin, emax, offset, fraction_bits;
  Word implicit, greatest;

  MMAFUZZ_HD constexpr explicit MagnitudeNear(const FormatFields& f)
      : emin(f.emin()),
        emax(f.emax()),
        offset(f.subnormals == SubnormalRule::absent ? f.bias : f.bias - 1),
        fraction_bits(f.fraction_bits),
        implicit(static_cast<Word>(f.subnormals == SubnormalRule::absent ? 0 : uint64_t{1} << f.fraction_bits)),
        greatest(static_cast<Word>(f.greatest_magnitude())) {}

  MMAFUZZ_HD constexpr Word operator()(int exponent, Word fraction) const {
    const int at = larger(exponent, emin), shift = at - exponent;
    const Word odd = fraction & 1;
    Word code = static_cast<Word>(static_cast<Word>(smaller(at, emax + 1) + offset) << fraction_bits);
    code += static_cast<Word>((implicit | fraction) >> smaller(shift, static_cast<int>(8 * sizeof(Word)) - 1));
    code |= shift > fraction_bits ? odd : 0;
    return smaller(code, static_cast<Word>(greatest - (at > emax ? odd : 0)));
  }
};

/// The same as an encoding.
MMAFUZZ_HD_CALL inline uint64_t encode_near(const FormatFields& f, bool negative, int exponent, uint64_t fraction) {
  return f.in_container(MagnitudeNear<uint64_t>(f)(exponent, fraction) | (negative ? f.sign_bit() : 0));
}

/// Zero, infinity, NaN, greatest, least normal, least or greatest subnormal, of either sign.
MMAFUZZ_HD_CALL inline uint64_t draw_special(const FormatFields& f, CounterRng& rng) {
  const uint64_t bits = rng.next();
  const bool negative = bits & 8;
  switch (bits & 7) {
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

/// A number near 2^exponent with a patterned fraction, of either sign.
MMAFUZZ_HD inline uint64_t draw_near(const FormatFields& f, int exponent, CounterRng& rng) {
  const uint64_t bits = rng.next();
  return encode_near(f, bits >> 9 & 1, exponent, patterned_fraction(f, bits));
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
