// The last step of a dot's sum, as a row makes it (arithmetic/trace.h): what it adds up to before its rounding.
// Whatever a row does before that step, the step says by how much c or a product has to change, so that the sum is a
// wanted one.
#pragma once

#include "arithmetic/trace.h"

namespace mmafuzz {

struct LastStep {
  static constexpr int no_greatest = INT32_MIN / 2;

  int greatest = no_greatest;  ///< the greatest exponent of a nonzero addend: of its operands where addends are
                               ///< aligned, else of its leading bit. no_greatest where none is or the step is special.
  int lost = 0;                ///< alignment dropped: 0 nothing, 1 bits, 2 all of an addend
  bool rounds = false;         ///< the sum is a number that is rounded; else what follows is not known
  bool zero = false;           ///< the sum is 0
  int above = 0;               ///< bits from `greatest` up to the sum's leading one
  int remainder = 0;           ///< bins::remainder_class
  bool last = false;           ///< last bit of the significand before rounding
  bool has_sum = false;        ///< `sum` holds the sum of integers or of exact values
  int128 sum = 0;              ///< in units of 2^unit
  int unit = 0;
  uint64_t result = 0;  ///< of the dot, in d's format
};

LastStep last_step(const DotModel& row, const DotOperands& in);

}  // namespace mmafuzz
