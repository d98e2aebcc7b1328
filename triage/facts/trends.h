// Facts and coverage bins over the campaigns of a store: which appear, stay and disappear.
#pragma once

#include <string>
#include <vector>

#include "triage/store/store.h"

namespace mmafuzz {

/// A fact or a bin over the campaigns of a store, which are numbered from 0 in the order of their starts.
struct Trend {
  std::string name;
  std::string severity;          ///< of a fact; "" of a bin
  std::vector<size_t> seen;      ///< numbers of the campaigns that saw it, increasing, at least one
  std::vector<uint64_t> counts;  ///< of a fact: divergences in each campaign of `seen`; empty of a bin
  int64_t first = 0, last = 0;   ///< starts of the first and last campaign of `seen`, seconds since 1970, UTC
};

struct Trends {
  std::vector<CampaignRecord> campaigns;  ///< by start
  std::vector<Trend> facts, bins;         ///< by name
  std::vector<size_t> bins_reached;       ///< how many, by number of the campaign; 0 where its coverage was pruned
};

Trends trends_of(const Store& store);

/// Whether none of the last `recent` of all `campaigns` saw it, and at least half of those before did.
bool has_gone(const Trend& trend, size_t campaigns, size_t recent);

/// Whether only campaigns among the last `recent` saw it; false where there are no others.
bool has_come(const Trend& trend, size_t campaigns, size_t recent);

}  // namespace mmafuzz
