// A store that outlives campaigns: what was found before is not new, and what people decided there holds here.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "triage/bucket.h"

namespace mmafuzz {

/// Merges a campaign's store into the long-lived one, which is created where there is none. The decisions of the
/// long-lived store are set in the campaign's own and in `buckets`. Returns the facts that other campaigns
/// had found before.
std::set<std::string> merge_into_all_nights(const std::string& all_nights, const std::string& own,
                                            const std::string& campaign, std::vector<Bucket>& buckets);

}  // namespace mmafuzz
