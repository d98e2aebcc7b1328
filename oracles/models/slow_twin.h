// The slow twin of the dot kernels: the same results from arbitrary-precision arithmetic, without code shared with the
// kernels (docs/semantics.md, 11, names its sources). A difference means that one of the two misreads the sources.
#pragma once

#include <cstdint>

#include "arithmetic/dot_model.h"

namespace mmafuzz {

/// Result encoding, in model.d, of one dot case by arbitrary-precision arithmetic (docs/semantics.md).
/// operands.k may exceed model.k (instructions chained through d) or fall short of it (padded with +0, scales 1.0).
uint64_t slow_twin_dot(const DotModel& model, const DotOperands& operands);

}  // namespace mmafuzz
