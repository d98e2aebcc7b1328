// An assignment with --cases gives what its seed says, however often it is killed: its worker begins where the first
// one began. What that one left in the segment stays, and is not written twice (core/divergence_log.h).
#pragma once

#include "campaign/engines.h"

namespace mmafuzz {

/// Notes where an assignment begins; later takes its corpus, its cases and its answers back to there. The findings of
/// this shard's earlier processes come into the file of this one.
void begin_again(const WorkerRun& run, ShareProgress& progress);

}  // namespace mmafuzz
