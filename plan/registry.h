// The registry of all units of this program: oracles, models, plugins and devices.
#pragma once

#include "core/registry.h"

namespace mmafuzz {

const Registry& registry();

/// A new registry with the same units, to which the caller may add families.
Registry make_registry();

/// A pattern for the units that are searched by default: "default,plugin:mine.so".
inline constexpr char default_word[] = "default";

/// The names of the units that patterns stand for on an op (matching_units, also with short names, `default` and "UNIT
/// on OP"). No patterns mean `default`: Registry::searched_by_default() and the user's named rows.
std::vector<std::string> units_of(const std::vector<std::string>& patterns, const Op& op);

}  // namespace mmafuzz
