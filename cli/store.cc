// mmafuzz store: shows what changes over the campaigns (nights) that were merged into a store, and prunes old ones.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "core/text.h"
#include "triage/facts/trends.h"

namespace mmafuzz::cli {
namespace {

/// For each of the last `shown` of `campaigns` campaigns, the count of what the trend is about: " 1023", " -" where the
/// campaign did not see it, " +" where the trend has no counts.
std::string last_counts(const Trend& trend, size_t campaigns, size_t shown) {
  std::string text;
  for (size_t i = campaigns - std::min(campaigns, shown); i < campaigns; ++i) {
    const auto found = std::find(trend.seen.begin(), trend.seen.end(), i);
    const size_t at = static_cast<size_t>(found - trend.seen.begin());
    text += " " + (found == trend.seen.end() ? "-" : trend.counts.empty() ? "+" : std::to_string(trend.counts[at]));
  }
  return text;
}

void print_list(const std::string& what, const std::vector<std::string>& names) {
  if (names.empty()) return;
  fmt::print("{} ({})\n", what, names.size());
  constexpr size_t most = 20;
  for (size_t i = 0; i < std::min(most, names.size()); ++i) fmt::print("  {}\n", names[i]);
  if (names.size() > most) fmt::print("  and {} more\n", names.size() - most);
}

struct StoreOptions {
  std::string store, keep;
  unsigned recent = 7;
  bool bins = false, json = false;
};

nlohmann::json trends_json(const Trends& all, const StoreOptions& options) {
  const size_t campaigns = all.campaigns.size();
  nlohmann::json nights = nlohmann::json::array(), facts = nlohmann::json::array(), bins = nlohmann::json::array();
  for (size_t i = 0; i < campaigns; ++i)
    nights.push_back({{"uuid", all.campaigns[i].uuid},
                      {"started", all.campaigns[i].started},
                      {"distinct_bins", all.bins_reached[i]}});
  const auto entry = [&](const Trend& trend) {
    return nlohmann::json{{"name", trend.name},
                          {"seen", trend.seen},
                          {"first", trend.first},
                          {"last", trend.last},
                          {"come", has_come(trend, campaigns, options.recent)},
                          {"gone", has_gone(trend, campaigns, options.recent)}};
  };
  for (const Trend& trend : all.facts) {
    facts.push_back(entry(trend));
    facts.back()["severity"] = trend.severity;
    facts.back()["counts"] = trend.counts;
  }
  for (const Trend& trend : all.bins) bins.push_back(entry(trend));
  nlohmann::json whole = {{"recent", options.recent}, {"campaigns", nights}, {"facts", facts}};
  if (options.bins) whole["bins"] = bins;
  return whole;
}

void print_trends(const StoreOptions& options) {
  const Trends all = trends_of(Store(options.store, Access::read));
  const size_t campaigns = all.campaigns.size();
  if (!campaigns) throw BadInput(options.store + " holds no campaigns");
  if (options.json) {
    print_object(trends_json(all, options));
    return;
  }
  fmt::print("{} from {} to {}\n\n", counted(campaigns, "campaign"),
             utc_text(all.campaigns.front().started, day_format), utc_text(all.campaigns.back().started, day_format));
  const std::vector<Trend>& rows = options.bins ? all.bins : all.facts;
  size_t width = 4;
  for (const Trend& trend : rows) width = std::max(width, trend.name.size());
  fmt::print("{:<{}}  {:>7}  {:<10}  {:<10}  last {}\n", options.bins ? "bin" : "fact", width, "seen in", "first",
             "last", options.bins ? "campaigns" : "campaigns' divergences");
  for (const Trend& trend : rows)
    fmt::print("{:<{}}  {:>7}  {}  {} {}\n", trend.name, width, trend.seen.size(), utc_text(trend.first, day_format),
               utc_text(trend.last, day_format), last_counts(trend, campaigns, options.recent));
  fmt::print("\ndistinct bins of the last campaigns:");
  for (size_t i = campaigns - std::min<size_t>(campaigns, options.recent); i < campaigns; ++i)
    fmt::print(" {}", all.bins_reached[i] ? std::to_string(all.bins_reached[i]) : "pruned");
  fmt::print("\n");
  const auto list = [&](const std::vector<Trend>& trends, auto test, const std::string& what) {
    std::vector<std::string> names;
    for (const Trend& trend : trends)
      if (test(trend, campaigns, options.recent)) names.push_back(trend.name);
    print_list(what, names);
  };
  const std::string recent = fmt::format("the last {}", options.recent);
  list(all.facts, has_come, "facts that only " + recent + " saw");
  list(all.facts, has_gone, "facts that " + recent + " did not see, and half of the campaigns before did");
  list(all.bins, has_come, "bins that only " + recent + " reached");
  list(all.bins, has_gone, "bins that " + recent + " did not reach, and half of the campaigns before did");
}

void prune(const std::string& file, const std::string& keep, bool json) {
  const std::optional<double> seconds = parse_duration(keep);
  if (!seconds) throw BadInput("--keep " + keep + ": give a time, as in 90d");
  const auto size = [&] { return std::filesystem::file_size(file); };
  { const Store there(file, Access::read); }  // throws on a wrong name; opening to write would create a store
  const uintmax_t before = size();
  Store store(file, Access::write);
  const size_t pruned = store.prune(std::time(nullptr) - static_cast<int64_t>(*seconds));
  if (json) print_object({{"pruned", pruned}, {"bytes", size()}, {"bytes_before", before}});
  else
    fmt::print("{}: progress, coverage and pairs of {} are gone; {:.1f} MB, before {:.1f} MB\n", file,
               counted(pruned, "campaign"), static_cast<double>(size()) / 1e6, static_cast<double>(before) / 1e6);
}

}  // namespace

void add_store(Arguments& app, int& status) {
  Arguments* sub = app.add_subcommand("store", "Trends of a store of many nights, and what may go from it");
  sub->require_subcommand();
  sub->footer("Example: mmafuzz store trends all-nights.sqlite");
  auto options = std::make_shared<StoreOptions>();
  sub->add_flag("--json", options->json, "print one JSON object");
  Arguments* trends = sub->add_subcommand("trends", "Facts and bins over campaigns: which come, stay and go");
  trends->add_option("store", options->store, "store file")->required();
  trends->add_option("--recent", options->recent, "how many of the last campaigns are the recent ones")
      ->check(in_range(1, 1000))
      ->capture_default_str();
  trends->add_flag("--bins", options->bins, "a line for each bin, not for each fact");
  trends->add_flag("--json", options->json, "print one JSON object; with --bins it has both");
  trends->footer("Example: mmafuzz store trends all-nights.sqlite --recent 14");
  trends->callback([options, &status] {
    print_trends(*options);
    status = exit_ok;
  });
  Arguments* prune_command = sub->add_subcommand("prune", "Drop progress, coverage and pairs of old campaigns");
  prune_command->add_option("store", options->store, "store file")->required();
  prune_command
      ->add_option("--keep", options->keep, "of campaigns that started within this time, as in 90d, everything stays")
      ->required();
  prune_command->add_flag("--json", options->json, "print one JSON object");
  prune_command->footer(
      "The campaigns themselves, buckets, counts, witnesses and decisions stay. What is merged again comes back.\n"
      "Example: mmafuzz store prune all-nights.sqlite --keep 90d");
  prune_command->callback([options, &status] {
    prune(options->store, options->keep, options->json);
    status = exit_ok;
  });
}

}  // namespace mmafuzz::cli
