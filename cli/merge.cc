// mmafuzz merge: many campaigns' stores into one; a campaign that is in several counts once.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "campaign/triage_campaigns.h"
#include "cli/command.h"
#include "triage/store/store.h"
#include "cli/print_buckets.h"

namespace mmafuzz::cli {

void add_merge(Arguments& app, int& status) {
  struct Options {
    std::string into;
    std::vector<std::string> from;
    bool fail_on_new = false;
  };
  auto options = std::make_shared<Options>();
  Arguments* sub = app.add_subcommand("merge", "Merge stores into one, without counting a campaign twice");
  sub->add_option("into", options->into, "store that receives; created where there is none")->required();
  sub->add_option("from", options->from, "stores to read")->required();
  sub->add_flag(
      "--fail-on-new", options->fail_on_new,
      "list contract, accuracy, unstable and unexplained buckets that INTO did not know and nobody called known "
      "or expected, and what was fixed and is back; exit with 1");
  sub->footer("Example: mmafuzz merge all.store monday.store tuesday.store");
  sub->callback([options, &status] {
    for (const std::string& from : options->from)
      Store(from, Access::read);  // a wrong name changes and creates nothing
    Store into(options->into, Access::write);
    std::set<std::string> known, fixed;  // what was called fixed must not come again
    for (const Bucket& bucket : into.buckets()) {
      known.insert(bucket.id());
      if (bucket.status == BucketStatus::fixed && !came_again(bucket)) fixed.insert(bucket.id());
    }
    const size_t buckets_before = known.size(), campaigns_before = into.campaigns().size();
    into.atomically([&] {
      for (const std::string& from : options->from) into.merge_from(Store(from, Access::read));
    });
    into.write_witnesses();
    std::vector<Bucket> all = into.buckets();
    const size_t buckets = all.size(), campaigns = into.campaigns().size();
    fmt::print("{}: {} buckets ({} more) of {} campaigns ({} more)\n", options->into, buckets, buckets - buckets_before,
               campaigns, campaigns - campaigns_before);
    status = exit_ok;
    if (!options->fail_on_new) return;
    std::erase_if(all, [&](const Bucket& b) {
      if (fixed.count(b.id())) return !came_again(b);
      return known.count(b.id()) || is_decided(b) || !is_grave(b);
    });
    size_t untriaged = 0;
    for (const CampaignRecord& campaign : into.campaigns()) untriaged += campaign.untriaged;
    if (untriaged) {
      fmt::print("{} campaigns have divergences that are not triaged\n", untriaged);
      status = exit_divergence;
    }
    if (all.empty()) return;
    const size_t shown = std::min<size_t>(all.size(), 15);
    print_buckets({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shown)}, true);
    fmt::print("{} buckets are contract or accuracy divergences, unstable or unexplained, or were fixed{}\n",
               all.size(), all.size() > shown ? fmt::format("; mmafuzz findings {} lists all", options->into) : "");
    status = exit_divergence;
  });
}

}  // namespace mmafuzz::cli
