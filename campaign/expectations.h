// What a campaign's facts are compared with: the facts that its units imply, and those that were found before.
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

/// The facts, by name, that the rows of the units (names and globs) imply on the ops on which a plan compares them.
/// `is_searched`: false leaves an assignment out.
std::map<std::string, Expectation> expectations_of(const Plan& plan, const std::vector<std::string>& units,
                                                   const std::function<bool(const Assignment&)>& is_searched = {});

/// The same for what a campaign has searched so far. Facts of ops that it has not searched are possible, not required.
std::map<std::string, Expectation> expectations_of(const Plan& plan, const std::vector<std::string>& units,
                                                   const CampaignProgress& progress);

/// Merges a campaign's store, a file, into a store that outlives campaigns, the file `all_nights`, which is
/// created where there is none: what earlier campaigns found is not new, and what people decided there applies here.
/// The decisions of the long-lived store are set in the campaign's store and in `buckets`. Returns the names of the
/// facts that campaigns other than `campaign`, a uuid, had found before.
std::set<std::string> merge_into_all_nights(const std::string& all_nights, const std::string& store,
                                            const std::string& campaign, std::vector<Bucket>& buckets);

}  // namespace mmafuzz
