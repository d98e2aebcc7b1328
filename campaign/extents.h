// How often and how far each fact shows on structured cases.
#pragma once

#include "triage/facts/conclusions.h"

namespace mmafuzz {

/// Writes it into the detail of the bucket that shows each difference best (extent_mark of triage/bucket.h). A
/// parameter is changed alone, in one row; of other differences the units of the witness are compared as they are.
/// `expected`: what the rows imply. Of plugins, processes and devices, which may crash or hang, only those that claim
/// nothing are asked here, and what they resemble is said (campaign/strangers.h).
void add_extents(std::vector<Bucket>& buckets, const std::map<std::string, Expectation>& expected, unsigned jobs);

}  // namespace mmafuzz
