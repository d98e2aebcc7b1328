// Flaws like those of hardware, over all families of units: a unit that equals its original but for the last bit of
// results whose cases meet a condition, such as four alignments at once or one pair of fractions in one lane. What the
// condition asks for exactly (lanes, shifts, codes) is drawn from a seed, so that no search can be fitted to the set:
// another seed makes another one.
#pragma once

#include "bench/search/catalogue.h"

namespace mmafuzz {

/// One flaw of each kind on each unit of a fixed list that the kind makes sense for. Names are
/// "flaw:<kind>@<original>#<seed>".
std::vector<Mutant> draw_flaws(uint64_t seed);

}  // namespace mmafuzz
