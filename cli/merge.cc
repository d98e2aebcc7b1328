// mmafuzz merge: many campaigns' stores into one; a campaign that is in several counts once.
#include <fmt/core.h>

#include "cli/command.h"
#include "triage/store.h"

namespace mmafuzz::cli {

void add_merge(CLI::App& app, int& status) {
  struct Options {
    std::string into;
    std::vector<std::string> from;
  };
  auto options = std::make_shared<Options>();
  CLI::App* sub = app.add_subcommand("merge", "Merge stores into one, without counting a campaign twice");
  sub->add_option("into", options->into, "store that receives; created where there is none")->required();
  sub->add_option("from", options->from, "stores to read")->required();
  sub->footer("Example: mmafuzz merge all.store monday.store tuesday.store");
  sub->callback([options, &status] {
    for (const std::string& from : options->from) Store(from, Access::read);  // a wrong name changes and creates nothing
    Store into(options->into, Access::write);
    const size_t buckets_before = into.buckets().size(), campaigns_before = into.campaigns().size();
    into.atomically([&] {
      for (const std::string& from : options->from) into.merge_from(Store(from, Access::read));
    });
    into.write_witnesses();
    const size_t buckets = into.buckets().size(), campaigns = into.campaigns().size();
    fmt::print("{}: {} buckets ({} more) of {} campaigns ({} more)\n", options->into, buckets, buckets - buckets_before, campaigns,
               campaigns - campaigns_before);
    status = exit_ok;
  });
}

}  // namespace mmafuzz::cli
