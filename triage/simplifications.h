// The steps of a minimization: cases that are simpler than a given one in one respect.
#pragma once

#include "triage/operands.h"

namespace mmafuzz {

/// One respect in which cases are made simpler. Returns candidates, the boldest first; whoever asks keeps those of less
/// cost.
using Simplification = std::vector<Operands> (*)(const Operands& from);

/// All of them, in the order of the normal form.
const std::vector<Simplification>& simplifications();

/// Cases with exactly `addends` nonzero addends where adders have corners, the same for every caller. `fraction_bits`:
/// bits that the adder keeps below the greatest exponent; `specials`: some operands are infinities and NaNs.
std::vector<Operands> small_cases(const Op& op, int addends, int fraction_bits, bool specials, size_t count);

}  // namespace mmafuzz
