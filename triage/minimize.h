// A divergence's normal form: fewest nonzero addends, then fewest significand bits, exponents nearest 0, positive signs, lowest
// positions. The bucket key, its cause included, stays the same at every step. Deterministic, and a second run changes nothing.
#pragma once

#include "triage/causes.h"
#include "triage/operands.h"

namespace mmafuzz {

/// Minimizes case 0 of `one`, which fails with this value class and cause. Any case of the key may be minimized by any engine's hand:
/// what comes out depends on the case, the key and the cause alone.
Batch minimize(const Batch& one, ValueClass cls, const std::string& cause, const Judge& judge, Causes& causes);

}  // namespace mmafuzz
