// The first place where two units do otherwise with a case.
#pragma once

#include <array>
#include <optional>

#include "triage/explain/explanation.h"

namespace mmafuzz {

/// A step of both and a row of each: its addends, then the sum, then the result.
struct FirstDifference {
  size_t step;
  std::array<size_t, 2> row;
};

/// Nothing where the results are the same, or a unit has no steps. Values are compared, not digits: one may keep more
/// zeros.
std::optional<FirstDifference> first_difference(const ExplainedUnit& x, const ExplainedUnit& y);

}  // namespace mmafuzz
