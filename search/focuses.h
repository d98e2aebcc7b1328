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

/// The units of which an engine's input names one by number, as positions in comparison.units(): those with a row, and
/// all of a matrix product; not those that are only held to their claim. Empty where there is none.
std::vector<size_t> engine_focuses(const Comparison& comparison);

}  // namespace mmafuzz
