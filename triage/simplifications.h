// The steps of a minimization: cases that are simpler than a given one in one respect.
#pragma once

#include "triage/operands.h"

namespace mmafuzz {

/// One respect in which cases are made simpler. Returns candidates, the boldest first; whoever asks keeps those of less
/// cost.
using Simplification = std::vector<Operands> (*)(const Operands& from);

/// All of them, in the order of the normal form.
const std::vector<Simplification>& simplifications();

}  // namespace mmafuzz
