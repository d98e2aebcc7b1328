// A block of numbers as a scale and codes, and back: the block formats of OCP MX 1.0 and NVFP4 (docs/quantizers.md).
#pragma once

#include "arithmetic/block_rule.h"
#include "arithmetic/integer_rounding.h"

namespace mmafuzz {

/// Elements of an integer format are multiples of 2^element_unit: s8 of 2^-6 (OCP MX 1.0, 5.3.4).
MMAFUZZ_HD constexpr int element_unit(const FormatFields& f) { return f.integer ? 2 - f.width : 0; }

/// The greatest magnitude of an element. The least integer, whose negative is no element, is not used.
MMAFUZZ_HD inline Number greatest_element(const FormatFields& f) {
  if (!f.integer) return decode(f, f.encode_greatest(false));
  Number n;
  n.cls = NumberClass::finite;
  n.significand = low_mask(f.width - 1);
  n.exponent = element_unit(f);
  return n;
}

/// The rank, from 0, of a positive scale among those of its format in ascending order; scale_at is the inverse.
MMAFUZZ_HD constexpr uint64_t scale_rank(const FormatFields& f, uint64_t code) {
  return f.shared_bias ? low_mask(f.width) - code : code >> f.ignored_low_bits;
}
MMAFUZZ_HD constexpr uint64_t scale_at(const FormatFields& f, uint64_t rank) {
  return f.shared_bias ? low_mask(f.width) - rank : f.in_container(rank);
}
MMAFUZZ_HD constexpr uint64_t greatest_scale_rank(const FormatFields& f) {
  return f.shared_bias ? low_mask(f.width) : f.greatest_magnitude();
}
/// The exponent of the least power of two in a format of scales without a fraction.
MMAFUZZ_HD constexpr int least_power(const FormatFields& f) {
  return f.shared_bias ? -static_cast<int>(low_mask(f.width)) : f.emin();
}

/// The amax from which on a scale of powers of two is 2^0: significand * 2^exponent. From 2^n times that on it is 2^n.
/// `tie` says which scale the amax of the step itself takes; to_even: the one whose exponent field is even.
struct ScaleStep {
  enum class Tie : uint8_t { greater, lesser, to_even } tie = Tie::greater;
  uint64_t significand = 0;  ///< its highest bit is set
  int exponent = 0;
};

namespace detail {

MMAFUZZ_HD inline ScaleStep scale_step_at(uint64_t significand, int exponent, ScaleStep::Tie tie) {
  const int up = 64 - bit_length(significand);
  return {tie, significand << up, exponent - up};
}

}  // namespace detail

/// The step of a rule for scales of powers of two.
MMAFUZZ_HD inline ScaleStep scale_step(ScaleRule rule, const FormatFields& element) {
  const Number greatest = greatest_element(element);
  const int length = bit_length(greatest.significand);
  const int emax = greatest.exponent + length - 1;
  // Fraction bits of the numbers in the greatest binade.
  const int fraction = element.integer ? length - 1 : element.fraction_bits;
  using Tie = ScaleStep::Tie;
  switch (rule) {
    case ScaleRule::floor: break;
    case ScaleRule::ceil: return detail::scale_step_at(1, emax - 1, Tie::lesser);
    case ScaleRule::even:  // the middle between the last number of a binade and the next power of two
      return detail::scale_step_at((uint64_t{4} << fraction) - 1, emax - 2 - fraction, Tie::greater);
    case ScaleRule::threshold: return detail::scale_step_at(7, emax - 3, Tie::greater);
    case ScaleRule::nearest_log2: {  // greatest / sqrt(2), no number of any format
      const int up = 64 - length;    // of 2 greatest^2, with a root of 64 bits
      const uint128 square = uint128{greatest.significand << up} * (greatest.significand << up) / 2;
      const uint64_t root = integer_root(square - 1) + 1;  // rounded up
      return detail::scale_step_at(root, greatest.exponent - up, Tie::greater);
    }
    case ScaleRule::rceil: return detail::scale_step_at(greatest.significand, greatest.exponent - 1, Tie::lesser);
    case ScaleRule::nearest:
      return detail::scale_step_at(3 * greatest.significand, greatest.exponent - 2, Tie::to_even);
  }
  return detail::scale_step_at(1, emax, Tie::greater);
}

namespace detail {

/// x / (divisor * 2^divisor_exponent) for finite x; the last bit is sticky. Both significands have at most 60 bits.
MMAFUZZ_HD inline Number jammed_quotient(const Number& x, uint64_t divisor, int divisor_exponent) {
  Number q = x;
  q.exponent = x.exponent - divisor_exponent;
  if ((divisor & (divisor - 1)) == 0) {
    q.exponent -= bit_length(divisor) - 1;
    return q;
  }
  const int up = larger(0, bit_length(divisor) + 58 - bit_length(x.significand));
  const uint128 scaled = uint128{x.significand} << up;
  const uint128 whole = scaled / divisor;
  q.significand = static_cast<uint64_t>(whole) << 1 | (whole * divisor != scaled ? 1 : 0);
  q.exponent -= up + 1;
  return q;
}

/// The scale of a block in a format without a fraction, within its range; the least one for a zero amax.
MMAFUZZ_HD inline uint64_t power_of_two_scale(const FormatFields& scale, const ScaleStep& step, const Number& amax) {
  if (amax.significand == 0) return scale_at(scale, 0);
  const int length = bit_length(amax.significand);
  const uint64_t significand = amax.significand << (64 - length);
  int exponent = amax.exponent - (64 - length) - step.exponent;
  const bool odd = ((exponent + scale.bias) & 1) != 0;
  const bool takes_greater = step.tie == ScaleStep::Tie::greater || (step.tie == ScaleStep::Tie::to_even && !odd);
  if (significand < step.significand || (significand == step.significand && !takes_greater)) --exponent;
  const int least = least_power(scale);
  exponent = larger(least, smaller(exponent, scale.emax()));
  return scale_at(scale, static_cast<uint64_t>(exponent - least));
}

}  // namespace detail

/// The encoding of the scale of a block whose greatest magnitude is `amax`, zero or finite. `step` is read only if the
/// scale has no fraction. `tensor`: the scale of the whole tensor, finite and positive.
MMAFUZZ_HD_CALL inline uint64_t block_scale(const BlockRule& rule, const ScaleStep& step, const FormatFields& element,
                                            const FormatFields& scale, Number amax, const Number& tensor) {
  if (rule.via.width != 0 && amax.cls == NumberClass::finite) {
    amax = decode(rule.via, round_once(rule.via, /*negative=*/false, amax.significand, amax.exponent).encoding);
    if (amax.cls == NumberClass::infinity) return scale.has_nan() ? scale.encode_nan() : scale.encode_greatest(false);
  }
  if (scale.fraction_bits == 0) return detail::power_of_two_scale(scale, step, amax);
  if (amax.significand == 0) return scale.encode_zero(false);
  const Number greatest = greatest_element(element);
  const Number wanted =
      detail::jammed_quotient(amax, greatest.significand * tensor.significand, greatest.exponent + tensor.exponent);
  const Rounding rounding = rule.rule == ScaleRule::rceil ? Rounding::up : Rounding::nearest_even;
  return round_once(scale, /*negative=*/false, wanted.significand, wanted.exponent,
                    {.rounding = rounding, .overflow = Overflow::saturate})
      .encoding;
}

/// The code of one number of a block: x / (scale * tensor) rounded once.
MMAFUZZ_HD_CALL inline Rounded block_element(const FormatFields& element, const Number& x, const Number& scale,
                                             const Number& tensor, const RoundingRule& rule) {
  Number y = x;
  if (x.cls == NumberClass::finite && scale.cls == NumberClass::finite)
    y = detail::jammed_quotient(x, scale.significand * tensor.significand, scale.exponent + tensor.exponent);
  else if (scale.cls == NumberClass::zero && x.cls == NumberClass::finite) {
    y.cls = NumberClass::zero;
    y.significand = 0;
  }
  if (!element.integer) return convert_number(element, y, rule);
  y.exponent -= element_unit(element);
  Rounded r = convert_to_integer(ieee_fields(8, 23), element, y, rule, /*signals_inexact=*/true);
  const uint64_t least = uint64_t{1} << (element.width - 1);
  if (r.encoding == least) r.encoding = least + 1;  // the least number has no counterpart
  return r;
}

/// The number of a code: element * scale * tensor, rounded once.
MMAFUZZ_HD_CALL inline uint64_t scaled_element(const FormatFields& element, uint64_t code, const Number& scale,
                                               const Number& tensor, const FormatFields& to, const RoundingRule& rule) {
  Number x = decode(element, code);
  if (x.cls == NumberClass::finite) x.exponent += element_unit(element);
  const Exact p = exact_product(exact_product(to_exact(x), to_exact(scale)), to_exact(tensor));
  if (p.cls == NumberClass::nan) return to.has_nan() ? to.encode_nan() : to.encode_greatest(false);
  if (p.cls == NumberClass::infinity) return rounded_infinity(to, p.negative, rule).encoding;
  return round_exact(to, p, rule).encoding;
}

}  // namespace mmafuzz
