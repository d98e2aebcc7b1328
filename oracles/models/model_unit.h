// A row of one's own as a unit, without the registry.
#pragma once

#include <memory>

#include "arithmetic/dot_model.h"
#include "core/unit.h"

namespace mmafuzz {

/// Whether there is vector code for a row.
bool runs_in_vectors(const DotModel& model);

/// A row bound to a dot op of its formats: in vector code where there is some, else by the scalar kernel, with the same
/// bits. It claims nothing.
std::unique_ptr<Unit> make_model_unit(const DotModel& model, const Op& op);

}  // namespace mmafuzz
