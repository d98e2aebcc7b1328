// Units by what people call them: "blackwell fp4", "h100 wgmma fp8".
#pragma once

#include <string>
#include <vector>

#include "core/unit.h"

namespace mmafuzz {

/// Whether every word stands in the unit's name or summary, is a GPU of its architecture, or another name of one of its
/// formats (fp4 for e2m1). Upper and lower case are the same.
bool matches_words(const UnitInfo& unit, const std::vector<std::string>& words);

}  // namespace mmafuzz
