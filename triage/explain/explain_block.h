// One block and what a quantizer made of it, as a table to read.
#pragma once

#include <string>
#include <vector>

#include "core/unit.h"

namespace mmafuzz {

/// The lines of the table, without a line's end: the scale, then each number that is not zero with its code, what that
/// stands for, and how far off it is. Figures are rounded to what a line holds. Empty for ops that are not on blocks.
std::vector<std::string> explained_block(const Batch& single, const Outcomes& outcomes, size_t index);

}  // namespace mmafuzz
