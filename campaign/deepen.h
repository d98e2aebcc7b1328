// A frequent cause hides a rare one: where two rows differ in several parameters, nearly all divergences may show one
// of them. Deepening replaces the parameters that are explained already and searches for what still differs.
#pragma once

#include "triage/triage.h"

namespace mmafuzz {

/// For each pair of models in the buckets whose causes do not name all parameters in which their rows differ: the named
/// parameters are replaced in the first unit by the values of the second, and a guided search of `cases` cases compares
/// the two. Its divergences that have further causes are added to the triage, until a search finds none. The triage has
/// to be finished again. Returns the number of divergences added.
size_t deepen(Triage& triage, const std::vector<Bucket>& buckets, uint64_t cases, uint64_t seed);

/// The same for one pair of any units, of which no cause is known so far. For two models, every round replaces what is
/// explained; for other units there is one round.
size_t find_differences(Triage& triage, const Op& op, const std::vector<std::string>& units, uint64_t cases,
                        uint64_t seed);

}  // namespace mmafuzz
