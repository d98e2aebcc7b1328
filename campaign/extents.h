// How often and how far each fact shows on structured cases.
#pragma once

#include "triage/facts/conclusions.h"

namespace mmafuzz {

/// Measures for each fact that is a difference its extent: on what share of the structured cases it shows and by how
/// many ulps. Appends it, behind extent_mark (triage/bucket.h), to the detail of the fact's best bucket. A parameter is
/// changed alone, in one row; of other differences, the units of the witness are compared as they are. `expected`: the
/// facts that the rows imply. Plugins, processes and devices, which may crash or hang, run here only if they claim
/// nothing; then it is said what they resemble (campaign/strangers.h).
void add_extents(std::vector<Bucket>& buckets, const std::map<std::string, Expectation>& expected, unsigned jobs);

}  // namespace mmafuzz
