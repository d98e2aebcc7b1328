// Units by words that people use: "blackwell fp4", "h100 wgmma fp8".
#pragma once

#include <string>
#include <vector>

#include "core/unit.h"

namespace mmafuzz {

/// Whether every word is part of the unit's name or summary, a GPU of its architecture, or another name of one of its
/// formats (fp4 for e2m1). Upper and lower case are the same.
bool matches_words(const UnitInfo& unit, const std::vector<std::string>& words);

}  // namespace mmafuzz
