// The row of a unit: its own, or that which it claims to equal.
#pragma once

#include <string>

#include "core/registry.h"

namespace mmafuzz {

/// The unit of the family `model:` that a unit is or claims to equal; empty for black boxes without one.
std::string model_name_of(const Unit& unit);

/// The same for telling parameters: an instruction of this CPU has its row also where it does not claim to equal it
/// because it writes NaNs in its own way.
std::string row_name_of(const Unit& unit, const Op& op, const Registry& registry);

/// Whether a unit is an arithmetic of its own without parameters: `exact`, `ieee`, `ieee:`..., `cpu:`...
bool is_reference(const Unit& unit);

/// Whether nothing is known of a unit's arithmetic: somebody's code, device or recording that claims to equal no row.
bool is_stranger(const Unit& unit);

}  // namespace mmafuzz
