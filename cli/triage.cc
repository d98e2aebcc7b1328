// mmafuzz triage: sorts the raw divergences of campaigns into buckets, each with its cause and one minimal witness.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "campaign/summary.h"
#include "campaign/triage_campaigns.h"
#include "cli/command.h"
#include "core/text.h"
#include "core/json_text.h"
#include "core/parallel.h"
#include "triage/bucket_json.h"
#include "triage/facts/facts.h"

namespace mmafuzz::cli {
namespace {

struct TriageOptions {
  TriageRequest request;
  std::string knowledge;
  bool details = false, json = false;
};

/// Prints the table of buckets; with `details` also what each cause means.
void print_buckets(const std::vector<Bucket>& buckets, bool details) {
  fmt::print("{:<10} {:<9} {:>8} {:>3}  {}\n", "bucket", "severity", "count", "n",
             "property, op, units, values, cause");
  for (const Bucket& b : buckets) {
    fmt::print("{:<10} {:<9} {:>8} {:>3}  {} {} {} {} {}\n", b.id(), name_of(b.severity), b.count, b.addends,
               b.key.property, b.key.op, joined(b.key.units, " "), b.key.value_class, b.cause);
    if (details) fmt::print("{:>36}{}\n", "", b.detail);
  }
}

nlohmann::json outcome_json(const TriageOptions& options, const TriageOutcome& outcome) {
  nlohmann::json left_out = nlohmann::json::array();
  for (const auto& [reason, records] : outcome.left_out) left_out.push_back({{"reason", reason}, {"records", records}});
  return {{"store", outcome.store},
          {"divergences", outcome.divergences},
          {"buckets", json_list(outcome.buckets, bucket_json)},
          {"new", outcome.new_ids},
          {"left_out", left_out},
          {"facts", conclusions_json(conclusions_of(options.request, outcome, known_facts(options.knowledge)))}};
}

}  // namespace

void add_triage(Arguments& app, int& status) {
  auto options = std::make_shared<TriageOptions>();
  TriageRequest& request = options->request;
  request.shows_progress = true;
  request.jobs = hardware_threads();
  Arguments* sub = app.add_subcommand("triage", "Sort raw divergences into buckets with causes and minimal witnesses");
  sub->add_option("paths", request.paths, "campaign folders and segment files")->required()->check(existing_path());
  sub->add_option("--store", request.store,
                  "store to write or add to (default: findings.sqlite in the first campaign's folder)");
  sub->add_option("--jobs", request.jobs, "threads")->check(in_range(1, 1024))->capture_default_str();
  sub->add_option("--deepen", request.deepen_cases, "cases to search behind each pair's explained causes")
      ->check(unsigned_number())
      ->capture_default_str();
  sub->add_flag("--minimize-all", request.minimizes_all,
                "minimize the witness of every bucket (default: of each fact the simplest on two ops, of a broken "
                "claim the simplest on each op)");
  sub->add_flag("--details", options->details, "print what each cause means");
  Argument* json = sub->add_flag("--json", options->json, "print one JSON object, with the facts that buckets show");
  add_knowledge_option(*sub, options->knowledge, "with --json: folder of known facts")->needs(json);
  sub->footer(
      "Exit codes: 1 where a bucket shows a broken claim, a record of one cannot be looked at, or a unit answered no "
      "case.\n"
      "Buckets that a store knows keep their status, notes and witnesses.\n"
      "Example: mmafuzz triage campaign-folder --store all-nights.sqlite");
  sub->callback([options, &status] {
    const TriageOutcome outcome = triage_campaigns(options->request);
    say_left_out(outcome);
    if (options->json) {
      print_object(outcome_json(*options, outcome));
    } else {
      print_buckets(outcome.buckets, options->details);
      fmt::print("{}, {}, {} new{}\n", counted(outcome.divergences, "divergence"),
                 counted(outcome.buckets.size(), "bucket"), outcome.new_ids.size(),
                 outcome.store.empty() ? "" : ": " + outcome.store);
    }
    const bool broken = std::any_of(outcome.buckets.begin(), outcome.buckets.end(), breaks_claim);
    status = broken || !outcome.inconclusive.empty() ? exit_divergence : exit_ok;
    if (!outcome.inconclusive.empty())
      fmt::print(stderr, "mmafuzz: nothing can be concluded: {}\n", outcome.inconclusive);
  });
}

}  // namespace mmafuzz::cli
