#include "triage/facts/trends.h"

#include <algorithm>
#include <map>

#include "triage/facts/facts.h"

namespace mmafuzz {

Trends trends_of(const Store& store) {
  Trends all;
  all.campaigns = store.campaigns();
  std::map<std::string, size_t> number;
  for (size_t i = 0; i < all.campaigns.size(); ++i) number[all.campaigns[i].uuid] = i;
  const auto set_dates = [&](Trend& trend) {
    trend.first = all.campaigns[trend.seen.front()].started;
    trend.last = all.campaigns[trend.seen.back()].started;
  };
  const auto counts = store.counts();
  for (const Fact& fact : facts_of(store.buckets())) {
    std::map<size_t, uint64_t> by_campaign;
    for (const std::string& bucket : fact.buckets)
      if (const auto found = counts.find(bucket); found != counts.end())
        for (const auto& [campaign, count] : found->second) by_campaign[number.at(campaign)] += count;
    if (by_campaign.empty()) continue;
    Trend trend{fact.name, name_of(fact.severity), {}, {}};
    for (const auto& [campaign, count] : by_campaign) {
      trend.seen.push_back(campaign);
      trend.counts.push_back(count);
    }
    set_dates(trend);
    all.facts.push_back(std::move(trend));
  }
  all.bins_reached.resize(all.campaigns.size());
  std::map<std::string, std::vector<size_t>> bins;
  for (const auto& [campaign, reached] : store.bins_of_campaigns()) {
    all.bins_reached[number.at(campaign)] = reached.size();
    for (const std::string& bin : reached) bins[bin].push_back(number.at(campaign));
  }
  for (auto& [name, seen] : bins) {
    std::sort(seen.begin(), seen.end());
    Trend trend{name, "", std::move(seen), {}};
    set_dates(trend);
    all.bins.push_back(std::move(trend));
  }
  std::sort(all.facts.begin(), all.facts.end(), [](const Trend& x, const Trend& y) { return x.name < y.name; });
  return all;
}

bool has_gone(const Trend& trend, size_t campaigns, size_t recent) {
  const size_t before = campaigns - std::min(campaigns, recent);
  return before > 0 && trend.seen.back() < before && 2 * trend.seen.size() >= before;
}

bool has_come(const Trend& trend, size_t campaigns, size_t recent) {
  const size_t before = campaigns - std::min(campaigns, recent);
  return before > 0 && trend.seen.front() >= before;
}

}  // namespace mmafuzz
