// One divergence in its normal form, as a record of case text.
#pragma once

#include <string>
#include <vector>

#include "core/registry.h"

namespace mmafuzz {

/// Appends case 0 of `one`, minimized, with its cause, to `out`. `statement` is a property and the units that it is
/// about. False where the case does not fail. `twin` receives the line of the case's twin under a property that has
/// one. Throws std::runtime_error where the statement cannot be judged.
bool minimize_divergence(const std::vector<std::string>& statement, const Batch& one, const Registry& registry,
                         std::string& out, std::string* twin = nullptr);

}  // namespace mmafuzz
