// The units of a comparison through which a search looks at its cases.
#pragma once

#include "search/comparison.h"
#include "search/guided_search.h"

namespace mmafuzz {

/// One focus with functional coverage for each unit that is a model or claims to equal one (then that model is traced).
/// Of a matrix product each unit that slices its operands, and one that does not. If there is none, one focus without a
/// unit. Units that tell features of themselves add them to their focus. In the order of comparison.units().
std::vector<GuidedSearch::Focus> focuses_of(const Comparison& comparison);

}  // namespace mmafuzz
