// Minimizes the witness of a unit with memory: a sequence whose last case fails only after the cases before it. Every
// attempt goes to units that have evaluated nothing before, so that a replay has the same results.
#pragma once

#include "triage/judge.h"

namespace mmafuzz {

/// Whether the last case of a sequence fails after the others and does not fail by itself, in each of several runs on
/// units that have evaluated nothing before.
bool fails_after_others(const Judge& judge, const Registry& registry, const Batch& sequence);

/// The period with which units fail on copies of one case.
struct Period {
  size_t cases = 0;  ///< copies after which the failures repeat; 0: they have no period
  size_t shown = 0;  ///< a number of copies, `cases` or more, the last of which fails
};
Period period_of(const Judge& judge, const Registry& registry, const Batch& single);
/// Whether the copies fail at that period also among cases of zeros, whether those count or not. Otherwise it is not a
/// count that fails, but what the copies leave behind.
bool is_count(const Judge& judge, const Registry& registry, const Batch& single, const Period& period);

/// Makes a sequence for which fails_after_others() holds shorter, then each of its cases simpler by the steps of single
/// cases (triage/simplifications.h). Nothing where fails_after_others() does not hold for the result.
std::optional<Batch> minimize_sequence(const Judge& judge, const Registry& registry, const Batch& sequence);

}  // namespace mmafuzz
