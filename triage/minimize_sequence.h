// A unit that remembers: a case that fails only after other cases. The fewest and simplest cases that still show it,
// each time to units that have evaluated nothing before, so that whoever replays them sees the same.
#pragma once

#include "triage/judge.h"

namespace mmafuzz {

/// Whether the last case of a sequence fails each time that the sequence is all that the units have evaluated, but not
/// by itself.
bool fails_after_others(const Judge& judge, const Registry& registry, const Batch& sequence);

/// Every how many copies of a case the units fail.
struct Period {
  size_t cases = 0;  ///< 0 where they do not come and go so
  size_t shown = 0;  ///< copies, at least as many, of which the last fails
};
Period period_of(const Judge& judge, const Registry& registry, const Batch& one);

/// A sequence for which fails_after_others holds, made shorter, then each of its cases brought to the normal form of
/// single cases (triage/minimize.h) while it remains so. It holds for what is returned, or nothing is.
std::optional<Batch> minimize_sequence(const Judge& judge, const Registry& registry, const Batch& sequence);

}  // namespace mmafuzz
