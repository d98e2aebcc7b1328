// Every unit that this program knows: oracles, models, plugins and devices.
#pragma once

#include "core/registry.h"

namespace mmafuzz {

const Registry& registry();

/// The same units in a registry of the caller's, who may add families of his own.
Registry make_registry();

/// Stands for the units that are searched where none are named: "default,plugin:mine.so".
inline constexpr char default_word[] = "default";

/// The units of one op: those that the patterns name, or all with their own arithmetic, rows of one's own among them,
/// where there is no pattern.
std::vector<std::string> units_of(const std::vector<std::string>& patterns, const Op& op);

}  // namespace mmafuzz
