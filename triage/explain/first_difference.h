// The first step, and the first line of it, in which the explanations of two units differ.
#pragma once

#include <array>
#include <optional>

#include "triage/explain/explanation.h"

namespace mmafuzz {

struct FirstDifference {
  size_t step;  ///< index, from 0, of a step that both units have
  /// For each unit a line of its step, from 0: an addend, then the line of the sum, which is counted where the step
  /// does not draw it too, then that of the result.
  std::array<size_t, 2> row;
};

/// Nothing where the units' results are the same, or a unit has no steps. Sums are compared by value: one unit's digits
/// may have more zeros at their ends.
std::optional<FirstDifference> first_difference(const ExplainedUnit& x, const ExplainedUnit& y);

}  // namespace mmafuzz
