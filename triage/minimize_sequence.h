// A unit that remembers: a case that fails only after other cases. The fewest and simplest cases that still show it.
#pragma once

#include "triage/judge.h"

namespace mmafuzz {

/// Whether the last case of a sequence fails each time that the units evaluate the sequence, but not by itself.
bool fails_after_others(const Judge& judge, const Batch& sequence);

/// Every how many copies of a case the units fail; 0 where they do not come and go so. Other threads must leave the
/// units alone.
size_t period_of(const Judge& judge, const Batch& one);

/// A sequence for which that is so, made shorter, then each of its cases brought to the normal form of single cases
/// (triage/minimize.h) while it remains so.
Batch minimize_sequence(const Judge& judge, const Batch& sequence);

}  // namespace mmafuzz
