// The exact numbers of the slow twin: integers times powers of two, decoding, exact operations, and the one rounding.
// Nothing here is ever held in a machine float or cut to a fixed width. Sections are those of docs/semantics.md; D with
// a number is a point of docs/units.md on which sources differ.
#pragma once

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <optional>

#include "arithmetic/dot_model.h"

namespace mmafuzz::slow_twin {

using boost::multiprecision::cpp_int;

/// The exponent that MMA-Sim 2025 and CDNA3's second stage read for a zero, in every format (D1, section 7).
inline constexpr int exponent_of_zero = -126;

/// units * 2^weight, units signed.
struct Dyadic {
  cpp_int units = 0;
  int weight = 0;
};

enum class Kind { zero, finite, infinity, nan };

/// The bits of a NaN.
struct NanBits {
  bool negative = false, quiet = false;
  cpp_int payload = 0;  ///< its fraction in 64 bits: the fraction's first bit is worth 2^63
};

using SomeNan = std::optional<NanBits>;

/// A decoded operand or an exact product: (-1)^negative * magnitude * 2^weight, and the exponent it is aligned by.
struct Term {
  Kind kind = Kind::zero;
  bool negative = false;
  cpp_int magnitude = 0;
  int weight = 0;
  int exponent = exponent_of_zero;
  bool is_invalid = false;  ///< a NaN that an operation made without a NaN among its operands
  SomeNan nan = {};         ///< the bits of an operand that is a NaN
  SomeNan factor[2] = {};   ///< of a product: `nan` of its factor from a, and of that from b

  bool special() const { return kind == Kind::infinity || kind == Kind::nan; }
  bool is_zero() const { return kind == Kind::zero; }
};

/// The exponent of the leading bit. The number must not be zero.
inline int leading_exponent(const Dyadic& v) { return v.weight + static_cast<int>(msb(abs(v.units))); }
inline int leading_exponent(const Term& t) { return t.weight + static_cast<int>(msb(t.magnitude)); }
/// A term of that value; its exponent is not set.
inline Term term_of(const Dyadic& v) {
  return {.kind = v.units == 0 ? Kind::zero : Kind::finite,
          .negative = v.units < 0,
          .magnitude = abs(v.units),
          .weight = v.weight};
}
inline Dyadic value_of(const Term& t) { return {t.negative ? cpp_int(-t.magnitude) : t.magnitude, t.weight}; }

inline Dyadic operator+(const Dyadic& x, const Dyadic& y) {
  const int weight = std::min(x.weight, y.weight);
  return {(x.units << (x.weight - weight)) + (y.units << (y.weight - weight)), weight};
}

/// v as a multiple of 2^weight, toward zero.
inline Dyadic truncated_at(const Dyadic& v, int weight) {
  if (v.weight >= weight) return {v.units << (v.weight - weight), weight};
  const cpp_int magnitude = abs(v.units) >> (weight - v.weight);
  return {v.units < 0 ? cpp_int(-magnitude) : magnitude, weight};
}

/// v as a multiple of 2^weight, toward minus infinity.
inline Dyadic floored_at(const Dyadic& v, int weight) {
  Dyadic result = truncated_at(v, weight);
  if (v.units < 0 && v.weight < weight && (result.units << (weight - v.weight)) != v.units) result.units -= 1;
  return result;
}

/// An encoding shifted right by its ignored low bits, after these have had their effect (section 1.8, D14, D36).
inline uint64_t significant_bits(const FormatFields& f, uint64_t encoding, LowBits rule) {
  encoding &= f.container_mask();
  if (f.ignored_low_bits == 0) return encoding;
  const uint64_t low = encoding & low_mask(f.ignored_low_bits);
  const uint64_t code = encoding >> f.ignored_low_bits;
  const bool top_exponent = ((code >> f.fraction_bits) & low_mask(f.exponent_bits)) == low_mask(f.exponent_bits);
  if (top_exponent) return rule == LowBits::nan_payload && low != 0 ? code | 1 : code;
  const bool at_least_half = low >> (f.ignored_low_bits - 1);
  return rule == LowBits::rounded && at_least_half ? code + 1 : code;
}

inline bool is_nan(const FormatFields& f, bool sign, uint64_t exponent, uint64_t fraction) {
  const bool top_exponent = exponent == low_mask(f.exponent_bits);
  switch (f.specials) {
    case Specials::ieee: return top_exponent && fraction != 0;
    case Specials::fn:
    case Specials::top_code: return top_exponent && fraction == low_mask(f.fraction_bits);
    case Specials::fnuz:
    case Specials::top_infinity: return sign && exponent == 0 && fraction == 0;
    case Specials::none: break;
  }
  return false;
}

/// What an exponent of all ones stands for: infinities and NaNs, or numbers, as other exponents do (D12: MATLAB's
/// chained accumulator, whose infinity is 2^(emax+1); OperandSpecials::numbers).
enum class AllOnes { special, number };

/// The value of an encoding.
inline Term decode(const FormatFields& f, uint64_t encoding, LowBits low_bits, AllOnes all_ones = AllOnes::special) {
  const uint64_t bits = significant_bits(f, encoding, low_bits);
  const uint64_t fraction = bits & low_mask(f.fraction_bits);
  const uint64_t exponent = (bits >> f.fraction_bits) & low_mask(f.exponent_bits);
  Term t;
  t.negative = f.sign == SignField::present && ((bits >> (f.fraction_bits + f.exponent_bits)) & 1);
  if (all_ones == AllOnes::special) {
    if (is_nan(f, t.negative, exponent, fraction)) {
      t.kind = Kind::nan;
      const uint64_t stored = encoding >> f.ignored_low_bits & low_mask(f.fraction_bits);
      const cpp_int payload = (cpp_int(stored) << 64) >> f.fraction_bits;
      t.nan = {t.negative, payload >> 63 != 0, payload};
      return t;
    }
    const bool top = exponent == low_mask(f.exponent_bits);
    if (f.specials == Specials::ieee && top) return t.kind = Kind::infinity, t;
    if (f.specials == Specials::top_infinity && top && fraction == low_mask(f.fraction_bits))
      return t.kind = Kind::infinity, t;
  }
  const int field = static_cast<int>(exponent);
  if (field != 0 || f.subnormals == SubnormalRule::absent) {
    t.magnitude = (uint64_t{1} << f.fraction_bits) | fraction;
    t.weight = field - f.bias - f.fraction_bits;
  } else if (f.subnormals != SubnormalRule::flushed) {
    t.magnitude = fraction;
    t.weight = (f.subnormals == SubnormalRule::literal ? 0 : 1) - f.bias - f.fraction_bits;
  }
  if (t.magnitude != 0) t.kind = Kind::finite;
  else if (f.has(policy::zero_positive)) t.negative = false;  // docs/cfloat.md, 5
  return t;
}

/// The exponent of a format's subnormal numbers 2^(1-bias) * 0.f, in Tesla's words 2^(-bias) * 0.f (section 9).
inline int least_exponent(const FormatFields& f) { return f.subnormals == SubnormalRule::literal ? -f.bias : f.emin(); }

/// Sets the exponent that a finite operand or c is aligned by: that of its leading bit, but at least `least`
/// (section 1.2). A zero's exponent is set by the zero rule.
inline void set_exponent(Term& t, int least) {
  if (t.kind == Kind::finite) t.exponent = std::max(leading_exponent(t), least);
}

/// Exact product; exponents add unnormalized, and a zero's -126 adds like any other ("operand" zero rule, D2).
inline Term multiply(const Term& x, const Term& y) {
  Term p;
  p.negative = x.negative != y.negative;
  p.exponent = x.exponent + y.exponent;
  p.factor[0] = x.nan;
  p.factor[1] = y.nan;
  if (x.kind == Kind::nan || y.kind == Kind::nan || (x.special() && y.is_zero()) || (y.special() && x.is_zero())) {
    p.kind = Kind::nan;
    p.is_invalid = x.kind != Kind::nan && y.kind != Kind::nan;
  } else if (x.special() || y.special()) {
    p.kind = Kind::infinity;
  } else if (!x.is_zero() && !y.is_zero()) {
    p.kind = Kind::finite;
    p.magnitude = x.magnitude * y.magnitude;
    p.weight = x.weight + y.weight;
  }
  return p;
}

/// x + y, unrounded. `mode` decides only the sign of a zero sum (IEEE 754-2019, 6.3).
inline Term exact_add(const Term& x, const Term& y, Rounding mode) {
  Term sum;
  if (x.special() || y.special()) {
    const bool conflict = x.special() && y.special() && x.negative != y.negative;
    sum = x.special() ? x : y;
    if (x.kind == Kind::nan || y.kind == Kind::nan || conflict) sum.kind = Kind::nan;
    return sum;
  }
  const Dyadic total = value_of(x) + value_of(y);
  if (total.units == 0) {
    sum.negative = x.is_zero() && y.is_zero() && x.negative == y.negative ? x.negative : mode == Rounding::down;
    return sum;
  }
  return term_of(total);
}

struct Rounded {
  uint64_t encoding;
  bool overflows;  ///< beyond the greatest number after rounding with unbounded exponent
};

/// magnitude / 2^shift, rounded to an integer.
inline cpp_int round_shifted(const cpp_int& magnitude, int shift, bool negative, Rounding mode) {
  if (shift <= 0) return magnitude << -shift;
  const cpp_int kept = magnitude >> shift;
  const cpp_int rest = magnitude - (kept << shift);
  const int against_half = rest.compare(cpp_int(1) << (shift - 1));
  bool away = false;
  switch (mode) {
    case Rounding::nearest_even: away = against_half > 0 || (against_half == 0 && bit_test(kept, 0)); break;
    case Rounding::nearest_away: away = against_half >= 0; break;
    case Rounding::up: away = rest != 0 && !negative; break;
    case Rounding::down: away = rest != 0 && negative; break;
    case Rounding::odd: away = rest != 0 && !bit_test(kept, 0); break;
    default: break;
  }
  return away ? cpp_int(kept + 1) : kept;
}

/// Infinity, or the greatest number with `fraction_bits` fraction bits in f's container.
inline uint64_t encode_overflow(const FormatFields& f, int fraction_bits, bool negative, Rounding mode, Overflow rule) {
  bool infinite = rule == Overflow::infinity;
  if (rule == Overflow::by_rounding) {
    infinite = mode == Rounding::nearest_even || mode == Rounding::nearest_away ||
               mode == (negative ? Rounding::down : Rounding::up);
  }
  if (infinite) return f.encode_infinity(negative);
  return f.encode_greatest(negative) & ~f.in_container(low_mask(f.fraction_bits - fraction_bits));
}

/// Nonzero v rounded to `fraction_bits` bits in f's container, underflow gradual (section 1.6: e8m13 has lsb 2^-139).
inline Rounded round_to(const FormatFields& f, int fraction_bits, const Dyadic& v, Rounding mode, Overflow rule) {
  const bool negative = v.units < 0;
  const int exponent = std::max(leading_exponent(v), f.emin());
  const cpp_int units = round_shifted(abs(v.units), exponent - fraction_bits - v.weight, negative, mode);
  // A carry out of the significand, or of the subnormals, moves into the exponent field by itself.
  const cpp_int below_field = units << (f.fraction_bits - fraction_bits);
  const cpp_int code = (cpp_int(exponent + f.bias - 1) << f.fraction_bits) + below_field;
  if (code > f.greatest_magnitude()) return {encode_overflow(f, fraction_bits, negative, mode, rule), true};
  return {f.in_container(static_cast<uint64_t>(code) | (negative ? f.sign_bit() : 0)), false};
}

}  // namespace mmafuzz::slow_twin
