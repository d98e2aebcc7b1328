// What decides the specials of a sum and the sign of an exact zero.
#pragma once

#include "arithmetic/decode.h"

namespace mmafuzz::exact {

/// Whether any term of a sum is NaN, +infinity or -infinity, and whether all terms are negative or positive.
struct TermSummary {
  bool nan = false, plus = false, minus = false, all_negative = true, all_positive = true;

  void note(NumberClass cls, bool negative) {
    nan |= cls == NumberClass::nan;
    plus |= cls == NumberClass::infinity && !negative;
    minus |= cls == NumberClass::infinity && negative;
    all_negative &= negative;
    all_positive &= !negative;
  }
};

}  // namespace mmafuzz::exact
