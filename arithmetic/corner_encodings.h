// Encodings of corner cases: near a chosen exponent, with fractions that cause long carries or ties, or special. Shared
// by the generators and the mutator, on host and device.
#pragma once

#include "arithmetic/counter_rng.h"
#include "arithmetic/decode.h"

namespace mmafuzz {

/// A fraction field: in most draws a pattern that causes long carries or ties, else uniform.
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

/// The code (without sign and ignored low bits) of a magnitude with this fraction field whose leading bit weighs
/// 2^exponent: below the normal range a subnormal one or zero, above it the greatest one or the one before.
template <class Word>
MMAFUZZ_HD Word magnitude_near(const FormatFields& f, int exponent, Word fraction) {
  const Word greatest = static_cast<Word>(f.greatest_magnitude());
  if (exponent > f.emax()) return static_cast<Word>(greatest - (fraction & 1));
  if (exponent >= f.emin())
    return smaller(static_cast<Word>((static_cast<Word>(exponent + f.bias) << f.fraction_bits) | fraction), greatest);
  if (f.subnormals == SubnormalRule::absent) return 0;
  const int shift = f.emin() - exponent;
  const Word significand = static_cast<Word>((Word{1} << f.fraction_bits) | fraction);
  return shift > f.fraction_bits ? fraction & 1 : static_cast<Word>(significand >> shift);
}

/// magnitude_near as an encoding with a sign.
MMAFUZZ_HD_CALL inline uint64_t encode_near(const FormatFields& f, bool negative, int exponent, uint64_t fraction) {
  return f.in_container(magnitude_near<uint64_t>(f, exponent, fraction) | (negative ? f.sign_bit() : 0));
}

/// By `pick` from 0 to 7: zero, infinity, the quiet NaN, a signaling one, greatest, least normal, least subnormal or
/// greatest subnormal, as a code without sign and ignored low bits. A format without the infinity or NaN gets the
/// greatest number, without the signaling NaN zero.
template <class Word>
MMAFUZZ_HD Word special_magnitude(const FormatFields& f, int pick) {
  const Word top = static_cast<Word>(f.top_exponent_field()) << f.fraction_bits;
  const Word greatest = static_cast<Word>(f.greatest_magnitude());
  switch (pick) {
    case 0: return 0;
    case 1: return f.has_infinity() ? static_cast<Word>(f.encode_infinity(false) >> f.ignored_low_bits) : greatest;
    case 2: return f.has_nan() ? static_cast<Word>(f.encode_nan() >> f.ignored_low_bits) : greatest;
    case 3: return f.specials == Specials::ieee && f.fraction_bits > 1 ? static_cast<Word>(top | 1) : 0;
    case 4: return greatest;
    case 5: return static_cast<Word>(Word{1} << f.fraction_bits);
    case 6: return 1;
    default: return static_cast<Word>(f.fraction_mask());
  }
}

/// special_magnitude as an encoding with a sign. The quiet NaN stays the canonical one, and a format without -0 gets
/// +0.
MMAFUZZ_HD inline uint64_t special_encoding(const FormatFields& f, int pick, bool negative) {
  const uint64_t magnitude = special_magnitude<uint64_t>(f, pick);
  if (magnitude == 0) return f.encode_zero(negative);
  return f.in_container(magnitude | (negative && (pick != 2 || !f.has_nan()) ? f.sign_bit() : 0));
}
MMAFUZZ_HD_CALL inline uint64_t draw_special(const FormatFields& f, CounterRng& rng) {
  const bool negative = rng.next() & 1;
  return special_encoding(f, static_cast<int>(rng.below(8)), negative);
}

/// How the two factors of a product share its exponent e: a has an exponent from `least` to `most`, b has e minus that,
/// and both are normal numbers, or with `subnormals` nonzero ones. Empty where least > most.
struct FactorShare {
  int least, most;

  MMAFUZZ_HD FactorShare(const FormatFields& a, const FormatFields& b, int e, bool subnormals = false)
      : least(larger(subnormals ? a.least_bit() : a.emin(), e - b.emax())),
        most(smaller(a.emax(), e - (subnormals ? b.least_bit() : b.emin()))) {}

  /// The exponent of a nearest to `wanted`; `least` where there is none.
  MMAFUZZ_HD int nearest(int wanted) const { return larger(least, smaller(wanted, most)); }
  MMAFUZZ_HD int any(CounterRng& rng) const { return least < most ? rng.between(least, most) : least; }
};

/// The exponent of a product's leading bit, and the bits below it, truncated to a fraction field. Both 0 for a zero.
template <class Word>
struct Leading {
  int exponent;
  Word fraction;
};
/// Of product * 2^exponent, with the fraction field of f.
MMAFUZZ_HD inline Leading<uint32_t> leading_of(const FormatFields& f, uint32_t product, int exponent) {
  if (product == 0) return {0, 0};
  const int top = bit_length(product) - 1;
  const uint32_t fraction = (product << 1 << (31 - top)) >> 1 >> (31 - f.fraction_bits);
  return {exponent + top, fraction};
}
MMAFUZZ_HD inline Leading<uint64_t> leading_of(const FormatFields& f, uint128 product, int exponent) {
  if (product == 0) return {0, 0};
  const int top = bit_length128(product) - 1;
  const uint128 at_top = product << 1 << (127 - top);
  return {exponent + top, static_cast<uint64_t>(at_top >> (128 - f.fraction_bits))};
}

/// A number near 2^exponent with a fraction of draw_fraction and a random sign. Each draw is a statement of its own,
/// because C++ leaves the order in which arguments are evaluated open.
MMAFUZZ_HD inline uint64_t draw_near(const FormatFields& f, int exponent, CounterRng& rng) {
  const uint64_t fraction = draw_fraction(f, rng);
  const bool negative = rng.next() & 1;
  return encode_near(f, negative, exponent, fraction);
}

/// The exponent field where it is neither 0 nor all ones, so that the number is normal in every format; otherwise, and
/// in integer formats and those without a sign bit, 0.
MMAFUZZ_HD inline int plain_exponent_field(const FormatFields& f, uint64_t encoding) {
  if (f.integer || !f.has_sign()) return 0;
  const int field = static_cast<int>(encoding >> f.ignored_low_bits >> f.fraction_bits) & f.top_exponent_field();
  return field == f.top_exponent_field() ? 0 : field;
}

/// Exponent of a number's leading bit; of zero, infinity and NaN emin.
MMAFUZZ_HD inline int leading_exponent(const FormatFields& f, uint64_t encoding) {
  if (const int field = plain_exponent_field(f, encoding)) return field - f.bias;  // the common case
  const Number n = decode(f, encoding);
  if (n.cls != NumberClass::finite) return f.emin();
  return n.exponent + bit_length(n.significand) - 1;
}

/// The encoding with its leading bit moved to 2^exponent, as far as magnitude_near can; sign and fraction stay.
MMAFUZZ_HD_CALL inline uint64_t with_exponent(const FormatFields& f, uint64_t encoding, int exponent) {
  if (const int field = plain_exponent_field(f, encoding)) {  // the common case: only the field changes
    const int to = exponent + f.bias;
    if (to > 0 && to < f.top_exponent_field())
      return encoding +
             (static_cast<uint64_t>(static_cast<int64_t>(to - field)) << f.fraction_bits << f.ignored_low_bits);
  }
  const Number n = decode(f, encoding);
  uint64_t fraction = (encoding >> f.ignored_low_bits) & f.fraction_mask();
  if (n.cls == NumberClass::finite && n.subnormal) {  // its leading one becomes the implicit one
    const int up = f.fraction_bits + 1 - bit_length(fraction);
    fraction = (fraction << up) & f.fraction_mask();
  }
  return encode_near(f, n.negative, exponent, fraction) | (encoding & low_mask(f.ignored_low_bits));
}

/// The sign bit at its position in the container; 0 for formats without a sign bit.
MMAFUZZ_HD inline uint64_t travelling_sign(const FormatFields& f) { return f.in_container(f.sign_bit()); }

}  // namespace mmafuzz
