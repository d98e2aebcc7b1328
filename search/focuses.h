// The focus units of a comparison: those on whose arithmetic a search observes its cases.
#pragma once

#include "search/comparison.h"
#include "search/guided_search.h"

namespace mmafuzz {

/// One focus with functional coverage for each unit that is a model or claims to equal one (then that model is traced);
/// of a matrix product, one for each unit that slices its operands, and one for the first that does not. If there is
/// none, one focus without a unit. Features that a unit reports itself are added to its focus, or to the first one
/// where it has none. In the order of comparison.units().
std::vector<GuidedSearch::Focus> focuses_of(const Comparison& comparison);

/// A unit through which an engine looks at an input. The default, where no unit is one to look through: the first unit,
/// without a model or a slicing.
struct EngineFocus {
  size_t unit = 0;  ///< its position in comparison.units()
  const DotModel* model = nullptr;
  const Slicing* slicing = nullptr;
};

/// What the focus number of an engine's input, modulo their number, chooses among: the units with a row, and all of a
/// matrix product, but not those that are only checked against their claim. At least one.
std::vector<EngineFocus> engine_focuses(const Comparison& comparison);

}  // namespace mmafuzz
