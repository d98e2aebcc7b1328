// mmafuzz merge: many campaigns' stores into one; a campaign that is in several counts once.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "campaign/triage_campaigns.h"
#include "cli/command.h"
#include "cli/print_buckets.h"
#include "core/json_text.h"
#include "core/json_version.h"
#include "triage/bucket_json.h"
#include "triage/store/store.h"

namespace mmafuzz::cli {

namespace {

struct Merged {
  size_t buckets = 0, more_buckets = 0, campaigns = 0, more_campaigns = 0;
  size_t untriaged = 0;         ///< campaigns with divergences that are in no bucket
  std::vector<Bucket> failing;  ///< what --fail-on-new lists
};

/// Merges, and writes the witnesses of what came.
Merged merge_stores(const std::string& into_path, const std::vector<std::string>& from_paths) {
  for (const std::string& from : from_paths) Store(from, Access::read);  // a wrong name changes and creates nothing
  Store into(into_path, Access::write);
  std::set<std::string> known, fixed;  // what was called fixed must not come again
  size_t campaigns_before = 0;
  into.atomically([&] {  // of two merges at a time one sees what the other brought
    for (const Bucket& bucket : into.buckets()) {
      known.insert(bucket.id());
      if (bucket.status == BucketStatus::fixed && !came_again(bucket)) fixed.insert(bucket.id());
    }
    campaigns_before = into.campaigns().size();
    for (const std::string& from : from_paths) into.merge_from(Store(from, Access::read));
  });
  into.write_witnesses();
  Merged merged;
  merged.failing = into.buckets();
  merged.buckets = merged.failing.size();
  merged.more_buckets = merged.buckets - known.size();
  std::erase_if(merged.failing, [&](const Bucket& b) {
    if (fixed.count(b.id())) return !came_again(b);
    return known.count(b.id()) || is_decided(b) || !is_grave(b);
  });
  const std::vector<CampaignRecord> campaigns = into.campaigns();
  merged.campaigns = campaigns.size();
  merged.more_campaigns = merged.campaigns - campaigns_before;
  for (const CampaignRecord& campaign : campaigns) merged.untriaged += campaign.untriaged;
  return merged;
}

void print_merged(const Merged& merged, const std::string& into, bool fail_on_new) {
  fmt::print("{}: {} buckets ({} more) of {} campaigns ({} more)\n", into, merged.buckets, merged.more_buckets,
             merged.campaigns, merged.more_campaigns);
  if (!fail_on_new) return;
  if (merged.untriaged) fmt::print("{} campaigns have divergences that are not triaged\n", merged.untriaged);
  if (merged.failing.empty()) return;
  const size_t all = merged.failing.size(), shown = std::min<size_t>(all, 15);
  print_buckets({merged.failing.begin(), merged.failing.begin() + static_cast<std::ptrdiff_t>(shown)}, true);
  fmt::print("{} buckets are contract or accuracy divergences, unstable or unexplained, or were fixed{}\n", all,
             all > shown ? fmt::format("; mmafuzz findings {} lists all", into) : "");
}

void print_merged_json(const Merged& merged) {
  nlohmann::json failing = nlohmann::json::array();
  for (const Bucket& bucket : merged.failing) failing.push_back(bucket_json(bucket));
  const nlohmann::json all = {{"json_version", json_version},
                              {"buckets", merged.buckets},
                              {"more_buckets", merged.more_buckets},
                              {"campaigns", merged.campaigns},
                              {"more_campaigns", merged.more_campaigns},
                              {"untriaged", merged.untriaged},
                              {"failing", failing}};
  fmt::print("{}", json_text(all));
}

}  // namespace

void add_merge(Arguments& app, int& status) {
  struct Options {
    std::string into;
    std::vector<std::string> from;
    bool fail_on_new = false, json = false;
  };
  auto options = std::make_shared<Options>();
  Arguments* sub = app.add_subcommand("merge", "Merge stores into one, without counting a campaign twice");
  sub->add_option("into", options->into, "store that receives; created where there is none")->required();
  sub->add_option("from", options->from, "stores to read")->required();
  sub->add_flag(
      "--fail-on-new", options->fail_on_new,
      "list contract, accuracy, unstable and unexplained buckets that INTO did not know and nobody called known "
      "or expected, and what was fixed and is back; exit with 1");
  sub->add_flag("--json", options->json, "print one JSON object, with that list");
  sub->footer("Example: mmafuzz merge all.store monday.store tuesday.store");
  sub->callback([options, &status] {
    const Merged merged = merge_stores(options->into, options->from);
    if (options->json) print_merged_json(merged);
    else print_merged(merged, options->into, options->fail_on_new);
    const bool fails = options->fail_on_new && (merged.untriaged || !merged.failing.empty());
    status = fails ? exit_divergence : exit_ok;
  });
}

}  // namespace mmafuzz::cli
