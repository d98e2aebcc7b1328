// What decides the specials of a sum and the sign of an exact zero.
#pragma once

#include "arithmetic/ieee_operations.h"

namespace mmafuzz::exact {

/// Whether any term of a sum is NaN, +infinity or -infinity, and whether all terms are negative or positive.
struct TermSummary {
  bool has_nan = false, has_plus = false, has_minus = false, all_negative = true, all_positive = true;

  void note(NumberClass cls, bool negative) {
    has_nan |= cls == NumberClass::nan;
    has_plus |= cls == NumberClass::infinity && !negative;
    has_minus |= cls == NumberClass::infinity && negative;
    all_negative &= negative;
    all_positive &= !negative;
  }

  /// Whether an infinity or a NaN decides the result, which is special_result().
  bool is_special() const { return has_nan || has_plus || has_minus; }
  uint64_t special_result(const FormatFields& d, const RoundingRule& rule) const {
    return has_nan || (has_plus && has_minus) ? d.encode_nan() : rounded_infinity(d, has_minus, rule).encoding;
  }
};

}  // namespace mmafuzz::exact
