// The result of a unit on one dot.
#pragma once

#include <vector>

#include "core/unit.h"

namespace mmafuzz {

/// The operands are encodings. a and b have op.k entries.
inline uint64_t run_one_dot(const Unit& unit, const Op& op, const std::vector<uint64_t>& a,
                            const std::vector<uint64_t>& b, uint64_t c, const std::vector<uint64_t>& scale_a = {},
                            const std::vector<uint64_t>& scale_b = {}) {
  Batch batch(op, 1);
  const auto fill = [&](size_t column, const std::vector<uint64_t>& values) {
    for (size_t i = 0; i < values.size() && i < size_t(batch.inputs()[column].count()); ++i)
      batch.inputs()[column].set(0, static_cast<int>(i), values[i]);
  };
  fill(0, a);
  fill(1, b);
  fill(2, {c});
  if (op.has_scales()) {
    fill(3, scale_a);
    fill(4, scale_b);
  }
  return unit.outcomes_of(batch).results.get(0);
}

}  // namespace mmafuzz
