// What a campaign's facts are held against: what its units imply, and what was found before.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "campaign/plan.h"
#include "campaign/state.h"
#include "triage/facts/conclusions.h"

namespace mmafuzz {

/// What the rows of the units imply on the ops on which a plan compares them; `counts` may leave assignments out.
std::map<std::string, Expectation> expectations_of(const Plan& plan, const std::vector<std::string>& units,
                                                   const std::function<bool(const Assignment&)>& counts = {});

/// The same for what a campaign has searched by now.
std::map<std::string, Expectation> expectations_of(const Plan& plan, const std::vector<std::string>& units,
                                                   const CampaignProgress& progress);

/// Merges a campaign's store into one that outlives campaigns, which is created where there is none: what was found
/// before is not new, and what people decided there holds here. The decisions of the long-lived store are set in the
/// campaign's own and in `buckets`. Returns the facts that other campaigns had found before.
std::set<std::string> merge_into_all_nights(const std::string& all_nights, const std::string& own,
                                            const std::string& campaign, std::vector<Bucket>& buckets);

}  // namespace mmafuzz
