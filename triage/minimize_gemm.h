// The normal form of a divergence of matrix products: the smallest matrices, then what the normal form of every op asks
// for.
#pragma once

#include "triage/minimize.h"

namespace mmafuzz {

/// The normal form of case 0 of `one`, on which these units break the property with this value class and cause. Its op
/// has the same formats and fewer or equal rows, columns and products. What a minimal case gives, it gives.
Batch minimize_gemm(const std::string& property, const std::vector<std::string>& units, const Batch& one,
                    ValueClass cls, const std::string& cause, const Registry& registry);

}  // namespace mmafuzz
