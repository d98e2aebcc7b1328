// Where the property split_k cuts a dot.
#pragma once

#include <optional>

#include "arithmetic/dot_model.h"
#include "core/op.h"

namespace mmafuzz {

/// Products before the border between steps of the row that is next below the middle; 0: there is no such border.
int split_k_cut(const Op& op, const std::optional<DotModel>& row);

}  // namespace mmafuzz
