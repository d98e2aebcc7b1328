// Flaws of matrix products from slices: a scheme that is right except where a conjunction of facts about a row, a
// column or an element holds. Units of schemes have no rows of parameters that a flaw could be planted in.
#pragma once

#include "bench/search/catalogue.h"

namespace mmafuzz {

/// One flaw of each kind; exponents, slices, places and signs are drawn from the seed.
std::vector<Mutant> draw_product_flaws(uint64_t seed);

}  // namespace mmafuzz
