// Where the property split_k cuts a dot.
#pragma once

#include <optional>

#include "arithmetic/dot_model.h"
#include "core/op.h"

namespace mmafuzz {

/// The number of products of the first shorter dot: the last border between two steps of the row that is not beyond
/// op.k / 2. 0: there is none. Without a row a step is one product.
int split_k_cut(const Op& op, const std::optional<DotModel>& row);

}  // namespace mmafuzz
