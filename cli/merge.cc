// mmafuzz merge: merges the stores of several campaigns into one; a campaign that is in several of them counts once.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "campaign/plan.h"
#include "cli/command.h"
#include "core/text.h"
#include "core/json_text.h"
#include "triage/bucket_json.h"
#include "triage/facts/conclusions_text.h"
#include "triage/store/store.h"

namespace mmafuzz::cli {
namespace {

struct Merged {
  size_t buckets = 0, more_buckets = 0, campaigns = 0, more_campaigns = 0;
  std::vector<std::string> inconclusive;  ///< for each campaign from which nothing can be concluded, why
  std::vector<Fact> facts;                ///< the facts that --fail-on-new lists
  std::vector<Bucket> failing;            ///< the buckets that show these facts
};

/// Merges the stores, and writes the witnesses of all buckets. `more_...` count what INTO did not have before.
Merged merge_stores(const std::string& into_path, const std::vector<std::string>& from_paths,
                    const Knowledge& knowledge) {
  for (const std::string& from : from_paths) Store(from, Access::read);  // throws on a wrong name, before any change
  Store into(into_path, Access::write);
  std::set<std::string> known, fixed;  // ids before the merge: of all buckets; of those called fixed and not seen since
  size_t campaigns_before = 0;
  into.atomically([&] {  // of two merges at the same time, the second counts what the first added as old
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
    return known.count(b.id()) || is_accepted(b) || !is_grave(b);
  });
  // A known fact excuses a bucket of accuracy. It does not excuse a broken claim, a divergence that nothing explains or
  // a bucket that was fixed: a person decides on each of these buckets, because a fact's name says too little.
  std::set<std::string> no_news;
  for (const Fact& fact : conclude(merged.failing, knowledge, {}).confirmed)
    no_news.insert(fact.buckets.begin(), fact.buckets.end());
  std::erase_if(merged.failing, [&](const Bucket& b) {
    return no_news.count(b.id()) && b.severity == Severity::accuracy && !is_strange(b.cause) && !breaks_claim(b) &&
           !fixed.count(b.id());
  });
  merged.facts = facts_of(merged.failing);
  const std::vector<CampaignRecord> campaigns = into.campaigns();
  merged.campaigns = campaigns.size();
  merged.more_campaigns = merged.campaigns - campaigns_before;
  for (const CampaignRecord& campaign : campaigns)
    if (!campaign.inconclusive.empty()) merged.inconclusive.push_back(campaign.inconclusive);
  return merged;
}

void print_merged(const Merged& merged, const std::string& into, bool fail_on_new) {
  fmt::print("{}: {} ({} more) of {} ({} more)\n", into, counted(merged.buckets, "bucket"), merged.more_buckets,
             counted(merged.campaigns, "campaign"), merged.more_campaigns);
  if (!fail_on_new) return;
  for (const std::string& reason : merged.inconclusive)
    fmt::print("nothing can be concluded from one campaign: {}\n", reason);
  const size_t all = merged.facts.size(), most = 15;
  if (all == 0) return;
  ConclusionsStyle style;
  style.store = into;
  for (size_t i = 0; i < std::min(all, most); ++i) fmt::print("\n{}", fact_text(merged.facts[i], style));
  fmt::print("\n{} in {}: contract or accuracy divergences, unstable or unexplained, or fixed before{}\n",
             counted(all, "fact"), counted(merged.failing.size(), "bucket"),
             all > most ? fmt::format("; mmafuzz findings {} lists all", into) : "");
}

void print_merged_json(const Merged& merged) {
  print_object({{"buckets", merged.buckets},
                {"more_buckets", merged.more_buckets},
                {"campaigns", merged.campaigns},
                {"more_campaigns", merged.more_campaigns},
                {"inconclusive", merged.inconclusive},
                {"failing", json_list(merged.failing, bucket_json)},
                {"failing_facts", json_list(merged.facts, [](const Fact& fact) { return fact.name; })}});
}

}  // namespace

void add_merge(Arguments& app, int& status) {
  struct Options {
    std::string into, knowledge;
    std::vector<std::string> from;
    bool fail_on_new = false, json = false;
  };
  auto options = std::make_shared<Options>();
  Arguments* sub = app.add_subcommand("merge", "Merge stores into one, without counting a campaign twice");
  sub->add_option("into", options->into, "store that receives; created where there is none")->required();
  sub->add_option("from", options->from, "stores to read")->required();
  sub->add_flag(
      "--fail-on-new", options->fail_on_new,
      "list the facts, unless they are known, in contract, accuracy, unstable and unexplained buckets that "
      "INTO did not have and nobody called known or expected, and in what was fixed and is back; exit with 1");
  add_knowledge_option(*sub, options->knowledge);
  sub->add_flag("--json", options->json, "print one JSON object, with that list");
  sub->footer("Example: mmafuzz merge all.store monday.store tuesday.store");
  sub->callback([options, &status] {
    const Merged merged = merge_stores(options->into, options->from, known_facts(options->knowledge));
    if (options->json) print_merged_json(merged);
    else print_merged(merged, options->into, options->fail_on_new);
    const bool fails = options->fail_on_new && (!merged.inconclusive.empty() || !merged.failing.empty());
    status = fails ? exit_divergence : exit_ok;
  });
}

}  // namespace mmafuzz::cli
