// The units of a comparison through which a search looks at its cases.
#pragma once

#include "search/comparison.h"
#include "search/guided_search.h"

namespace mmafuzz {

/// The models among the units, each a focus with functional coverage; a black box is looked at through the model that
/// it claims to equal. Without any, one focus without a unit. In the order of comparison.units().
std::vector<GuidedSearch::Focus> focuses_of(const Comparison& comparison);

}  // namespace mmafuzz
