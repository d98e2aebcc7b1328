// mmafuzz triage: raw divergences of campaigns as buckets, each with its cause and one minimal witness.
#include <fmt/core.h>

#include <algorithm>
#include <thread>

#include "campaign/triage_campaigns.h"
#include "triage/facts/facts.h"
#include "cli/command.h"
#include "cli/print_buckets.h"

namespace mmafuzz::cli {

void add_triage(Arguments& app, int& status) {
  struct Options {
    TriageRequest request;
    bool details = false;
  };
  auto options = std::make_shared<Options>();
  TriageRequest& request = options->request;
  request.progress = true;
  request.jobs = std::max(1u, std::thread::hardware_concurrency());
  Arguments* sub = app.add_subcommand("triage", "Sort raw divergences into buckets with causes and minimal witnesses");
  sub->add_option("paths", request.paths, "campaign folders and segment files")->required()->check(existing_path());
  sub->add_option("--store", request.store,
                  "store to write or add to (default: findings.sqlite in the first campaign's folder)");
  sub->add_option("--jobs", request.jobs, "threads")->check(in_range(1, 1024))->capture_default_str();
  sub->add_option("--deepen", request.deepen, "cases to search behind each pair's explained causes")
      ->check(unsigned_number())
      ->capture_default_str();
  sub->add_flag("--minimize-all", request.minimize_all,
                "minimize the witness of every bucket (default: of each fact, the simplest on each op)");
  sub->add_flag("--details", options->details, "print what each cause means");
  sub->footer(
      "Exit codes: 1 where a bucket shows a broken claim. Buckets that a store knows keep their status, notes and "
      "witnesses.\n"
      "Example: mmafuzz triage campaign-folder --store all-nights.sqlite");
  sub->callback([options, &status] {
    const TriageOutcome outcome = triage_campaigns(options->request);
    print_buckets(outcome.buckets, options->details);
    for (const std::string& line : outcome.left_out) fmt::print(stderr, "mmafuzz: {}\n", line);
    fmt::print("{} divergences, {} buckets, {} new{}\n", outcome.divergences, outcome.buckets.size(),
               outcome.is_new.size(), outcome.store.empty() ? "" : ": " + outcome.store);
    const bool broken = std::any_of(outcome.buckets.begin(), outcome.buckets.end(), breaks_claim);
    status = broken ? exit_divergence : exit_ok;
  });
}

}  // namespace mmafuzz::cli
