// What a store of many nights says over time: which facts and bins come, stay and go.
#pragma once

#include <string>
#include <vector>

#include "triage/store/store.h"

namespace mmafuzz {

/// A fact or a bin over the campaigns of a store, which are numbered by their start.
struct Trend {
  std::string name;
  std::string severity;          ///< of a fact
  std::vector<size_t> seen;      ///< numbers of the campaigns that saw it
  std::vector<uint64_t> counts;  ///< of a fact: divergences in each of those
  int64_t first = 0, last = 0;   ///< starts of the first and last of them, seconds since 1970, UTC
};

struct Trends {
  std::vector<CampaignRecord> campaigns;  ///< by start
  std::vector<Trend> facts, bins;         ///< by name
  std::vector<size_t> bins_reached;       ///< by each campaign; 0 where its coverage was pruned
};

Trends trends_of(const Store& store);

/// Not seen by the last `recent` campaigns, but by at least half of those before.
bool has_gone(const Trend& trend, size_t campaigns, size_t recent);

/// Seen by one of the last `recent` campaigns and by none before, where there are any.
bool has_come(const Trend& trend, size_t campaigns, size_t recent);

}  // namespace mmafuzz
