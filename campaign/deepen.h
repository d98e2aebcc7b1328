// A frequent cause hides a rare one: where two rows differ in several parameters, nearly all raw divergences may show
// one of them. Deepening replaces what is explained already and searches for what still differs.
#pragma once

#include "triage/triage.h"

namespace mmafuzz {

/// For each pair of models in the buckets whose causes do not name all parameters in which the rows differ: the
/// explained ones are replaced in the first unit, and a guided search of `cases` cases against the second one gives
/// divergences of the pair that have further causes, until none is found. They are added to the triage, which has to be
/// finished again. Returns their number.
size_t deepen(Triage& triage, const std::vector<Bucket>& buckets, uint64_t cases, uint64_t seed);

/// The same for one pair of any units, of which nothing is known so far. Of two models, every round sets aside what is
/// explained; of others there is one round.
size_t find_differences(Triage& triage, const Op& op, const std::vector<std::string>& units, uint64_t cases,
                        uint64_t seed);

}  // namespace mmafuzz
