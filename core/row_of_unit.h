// The row (a model's line of parameters, docs/concepts.md) of a unit: its own, or the one that it claims to equal.
#pragma once

#include <string>

#include "core/registry.h"

namespace mmafuzz {

/// The name of the unit of the family `model:` that a unit is, is the twin of, or claims to equal; "" where there is
/// none.
std::string model_name_of(const Unit& unit);

/// The same for comparisons of parameters: "" for references, with one exception. The CPU's instructions for dots have
/// a row, which counts also under a NaN policy under which they do not claim to equal it.
std::string row_name_of(const Unit& unit, const Op& op, const Registry& registry);

/// Whether a unit has an arithmetic of its own without parameters: `exact` and its referees, `ieee`, `ieee:`...,
/// `cpu:`..., hypotheses.
bool is_reference(const Unit& unit);

/// Whether nothing is known of a unit's arithmetic: a user's code, a device or a recording that claims to equal no row.
bool is_stranger(const Unit& unit);

}  // namespace mmafuzz
