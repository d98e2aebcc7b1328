// Numbers rounded to integers: conversions to integer formats (IEEE 754-2019, 5.4.1 and 5.8) and roundToIntegral
// (5.3.1, 5.9), with their flags (7.1, 7.2).
#pragma once

#include "arithmetic/ieee_operations.h"

namespace mmafuzz {

/// The magnitude of a finite number or zero, rounded to an integer in the rule's mode.
struct RoundedInteger {
  uint64_t magnitude = 0;
  bool has_over_64_bits = false;  ///< then `magnitude` is not set
  bool rounded_away = false;
  detail::CutBits cut = {0, false, false};
  bool inexact() const { return cut.guard || cut.sticky; }
};

MMAFUZZ_HD_CALL inline RoundedInteger rounded_integer(const Number& x, const RoundingRule& rule) {
  RoundedInteger r;
  if (x.cls != NumberClass::finite) return r;
  if (x.exponent > 64 - bit_length(x.significand)) {
    r.has_over_64_bits = true;
    return r;
  }
  constexpr int quantum = 0;
  r.cut = detail::cut_at(x.significand, x.exponent, /*sticky=*/false, quantum);
  r.rounded_away = detail::moves_away(rule, x.negative, x.significand, x.exponent, quantum, r.cut);
  r.magnitude = r.cut.kept + (r.rounded_away ? 1 : 0);  // a cut leaves at most 63 bits
  return r;
}

/// Whether a conversion to an integer format is invalid: NaN, infinity, or out of range once rounded (IEEE
/// 754-2019, 7.2 j). The standard does not specify the result of such a conversion.
MMAFUZZ_HD inline bool is_beyond_integers(const FormatFields& to, const Number& x, const RoundedInteger& n) {
  if (!is_number(x.cls) || n.has_over_64_bits) return true;
  const uint64_t greatest = low_mask(to.width - (to.has_sign() ? 1 : 0));
  const uint64_t limit = !x.negative ? greatest : to.has_sign() ? greatest + 1 : 0;
  return n.magnitude > limit;
}

MMAFUZZ_HD inline bool converts_to_no_integer(const FormatFields& to, const Number& x, const RoundingRule& rule) {
  return is_beyond_integers(to, x, rounded_integer(x, rule));
}

/// The flags of rounding to an integer: a subnormal operand raises none (as cvtss2si and roundss of x86, Intel SDM).
MMAFUZZ_HD inline uint8_t flags_of_integer(const FormatFields& from, const Number& x, const RoundedInteger& n,
                                           bool signals_inexact) {
  uint8_t flags = x.signaling ? flag::invalid : 0;
  if (n.inexact() && signals_inexact && !from.has(policy::no_inexact)) flags |= flag::inexact;
  return flags;
}

/// A number as an integer. An invalid conversion gives x86's integer indefinite, which is the least integer of a signed
/// format and all ones of an unsigned one (Intel SDM vol. 1, 4.8.3.7 and vcvtss2usi); where the rule saturates, the end
/// of the range on the number's side, and 0 for NaN (as Arm's FCVTZS and WebAssembly's trunc_sat).
MMAFUZZ_HD_CALL inline Rounded convert_to_integer(const FormatFields& from, const FormatFields& to, const Number& x,
                                                  const RoundingRule& rule, bool signals_inexact) {
  const RoundedInteger n = rounded_integer(x, rule);
  Rounded r;
  r.negative = x.negative;
  if (is_beyond_integers(to, x, n)) {
    const uint64_t all_ones = to.container_mask(), top_bit = uint64_t{1} << (to.width - 1);
    const uint64_t least = to.has_sign() ? top_bit : 0, greatest = to.has_sign() ? all_ones >> 1 : all_ones;
    r.flags = flag::invalid;
    r.encoding = rule.overflow != Overflow::saturate ? to.has_sign() ? top_bit : all_ones
                 : x.cls == NumberClass::nan         ? 0
                 : x.negative                        ? least
                                                     : greatest;
    return r;
  }
  r.last = n.cut.kept & 1;
  r.guard = n.cut.guard;
  r.sticky = n.cut.sticky;
  r.rounded_away = n.rounded_away;
  r.encoding = (x.negative ? ~n.magnitude + 1 : n.magnitude) & to.container_mask();
  r.flags = flags_of_integer(from, x, n, signals_inexact);
  return r;
}

/// A number as an integral number of its own format; a zero keeps the operand's sign (IEEE 754-2019, 6.3).
MMAFUZZ_HD_CALL inline Rounded round_to_integral(const FormatFields& f, const Number& x, const RoundingRule& rule,
                                                 bool signals_inexact) {
  const bool any_nan = x.cls == NumberClass::nan;
  Rounded r;
  uint8_t flags = x.signaling ? flag::invalid : 0;
  if (any_nan) {
    r = rounded_nan(f, false);
  } else if (x.cls == NumberClass::infinity) {
    r = rounded_infinity(f, x.negative, rule);
  } else if (x.exponent >= 0) {
    r = round_once(f, x.negative, x.significand, x.exponent, rule);
  } else {
    const RoundedInteger n = rounded_integer(x, rule);
    r = round_once(f, x.negative, n.magnitude, /*exponent=*/0, rule);
    flags = flags_of_integer(f, x, n, signals_inexact);
    r.last = n.cut.kept & 1;
    r.guard = n.cut.guard;
    r.sticky = n.cut.sticky;
    r.rounded_away = n.rounded_away;
  }
  r.flags = merged_flags(f, flags, r.flags, any_nan);
  return r;
}

}  // namespace mmafuzz
