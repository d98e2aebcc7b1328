// What decides the specials of a sum and the sign of an exact zero.
#pragma once

#include "arithmetic/decode.h"

namespace mmafuzz::exact {

/// What the terms of a sum have in common.
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
