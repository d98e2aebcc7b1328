// The steps of a minimization: cases that are simpler than a given one in one respect.
#pragma once

#include "triage/operands.h"

namespace mmafuzz {

/// Makes a case simpler in one respect. Returns candidates, the largest changes first. The caller checks their cost.
using Simplification = std::vector<Operands> (*)(const Operands& from);

/// All of them, in the order of the normal form.
const std::vector<Simplification>& simplifications();

}  // namespace mmafuzz
