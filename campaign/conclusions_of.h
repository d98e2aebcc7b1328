// What a store or a campaign means: its facts against what is known, and against what the campaign's units imply.
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

/// Of a store alone: nothing is expected, so nothing is unseen.
Conclusions conclusions_of(const std::vector<Bucket>& buckets, const std::string& knowledge_folder);

/// Of a campaign: its units, and those of its ops that were searched, say which facts must be there.
Conclusions conclusions_of(const std::vector<Bucket>& buckets, const std::string& knowledge_folder, const Plan& plan,
                           const CampaignProgress& progress, const std::vector<std::string>& units,
                           const std::set<std::string>& seen_before = {});

/// Merges a campaign's store into one that outlives campaigns, which is created where there is none: what was found
/// before is not new, and what people decided there holds here. The decisions of the long-lived store are set in the
/// campaign's own and in `buckets`. Returns the facts that other campaigns had found before.
std::set<std::string> merge_into_all_nights(const std::string& all_nights, const std::string& own,
                                            const std::string& campaign, std::vector<Bucket>& buckets);

}  // namespace mmafuzz
