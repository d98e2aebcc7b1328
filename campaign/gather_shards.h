// The end of a campaign of shards: what they found, in one folder, as if one process had done it.
#pragma once

#include <string>
#include <vector>

#include "campaign/plan.h"
#include "campaign/state.h"

namespace mmafuzz {

struct GatheredShards {
  CampaignProgress progress;           ///< of all together
  std::vector<std::string> not_begun;  ///< names of shards
  std::vector<std::string> not_ended;  ///< names of shards that have time or cases left
};

/// Brings segments, artifacts, corpora and progress of all shards into `out`, which is then a campaign's folder like
/// any other. Shards may still run: what they have written is taken. May be repeated. `plan`: of the whole campaign.
GatheredShards gather_shards(const std::string& out, const CampaignSettings& settings, const Plan& plan);

}  // namespace mmafuzz
