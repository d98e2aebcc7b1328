// mmafuzz bench search: how many cases and how much time searches need to find a difference between a flawed unit and
// its original.
#include <fmt/core.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/measured_rows.h"
#include "bench/search/report.h"

namespace mmafuzz {

namespace {

/// Marks as hard the flaws that `cases` cases of the structured generator do not show, whatever mark the list has.
void mark_hard(std::vector<Mutant>& flaws, uint64_t cases, unsigned jobs) {
  RaceLimits limits;
  limits.cases = cases;
  limits.jobs = jobs;
  for (const MutantRun& run : race(flaws, make_strategies({"structured"}, ""), limits, [](size_t, size_t) {}))
    flaws[run.mutant].is_hard = !run.killed;
}

}  // namespace

void add_bench_search(Arguments& bench, int& status) {
  struct Options {
    std::string flaws = "bench/mutants.txt", only = "*", published = "corpus/published", csv, plot;
    uint64_t drawn = 0, products = 0, hard_after = 0;
    bool only_hard = false;
    std::vector<std::string> strategies;
    RaceLimits limits;
    MeasuredRows rows;
  };
  auto options = std::make_shared<Options>();
  options->limits.cases = 1'000'000;
  Arguments* sub =
      bench.add_subcommand("search", "Cases and time until searches tell flawed units from their originals");
  sub->add_option("--flaws", options->flaws,
                  "list of flawed units, one name a line: a row with a parameter replaced, or a plugin that claims to "
                  "equal a model; '' for none")
      ->capture_default_str();
  sub->add_option(
         "--drawn", options->drawn,
         "add flaws of hardware whose places are drawn from this seed: one of each kind on each family of units")
      ->check(unsigned_number());
  sub->add_option("--products", options->products,
                  "add flaws of matrix products from slices, one of each kind, whose places are drawn from this seed")
      ->check(unsigned_number());
  auto* hard_after =
      sub->add_option("--hard-after", options->hard_after,
                      "a flaw is hard that this many cases of the structured generator (seed 1) do not show; 0: as the "
                      "list marks it")
          ->capture_default_str()
          ->check(unsigned_number());
  sub->add_flag("--only-hard", options->only_hard, "the searches compete for hard flaws alone")->needs(hard_after);
  sub->add_option("--only", options->only, "glob that a flaw's name matches");
  sub->add_option("--strategies", options->strategies,
                  "searches to compare, comma-separated; the first is tested against each other")
      ->delimiter(',');
  sub->add_option("--published", options->published, "folder of the published vectors")->capture_default_str();
  sub->add_option("--seeds", options->limits.seeds, "runs per flaw and strategy")
      ->capture_default_str()
      ->check(in_range(1, 1000000));
  sub->add_option("--cases", options->limits.cases, "cases per run, 0: no limit")
      ->capture_default_str()
      ->check(unsigned_number());
  sub->add_option("--time", options->limits.seconds, "processor seconds per run, 0: no limit")
      ->check(in_range(0.0, 1e6));
  sub->add_option("--jobs", options->limits.jobs, "threads")->check(in_range(1, 1024));
  sub->add_option("--csv", options->csv, "file for one line per run");
  sub->add_option("--plot", options->plot, "SVG file: share killed against time (needs gnuplot)");
  options->rows.add_json_flag(*sub);
  sub->footer("Example: mmafuzz bench search --only 'model:hopper/*' --seeds 3 --cases 100000 --csv runs.csv");
  sub->callback([options, &status] {
    if (!options->limits.cases && options->limits.seconds == 0)
      throw BadInput("bench search: --cases or --time must set a limit");
    if (!options->plot.empty()) require_gnuplot();
    MutantBench result;
    if (!options->flaws.empty()) result.mutants = read_mutants(options->flaws);
    if (options->drawn)
      for (Mutant& flaw : draw_flaws(options->drawn)) result.mutants.push_back(std::move(flaw));
    if (options->products)
      for (Mutant& flaw : draw_product_flaws(options->products)) result.mutants.push_back(std::move(flaw));
    std::erase_if(result.mutants, [&](const Mutant& flaw) { return !matches_glob(options->only, flaw.name); });
    if (result.mutants.empty()) throw BadInput("no flaw matches '" + options->only + "'");
    result.strategies = make_strategies(options->strategies, options->published);
    result.limits = options->limits;
    if (options->hard_after) mark_hard(result.mutants, options->hard_after, options->limits.jobs);
    if (options->only_hard) std::erase_if(result.mutants, [](const Mutant& flaw) { return !flaw.is_hard; });
    if (result.mutants.empty()) throw BadInput("no flaw is hard");
    result.marks_are_measured = options->hard_after != 0;
    const bool terminal = isatty(STDERR_FILENO);
    result.runs = race(result.mutants, result.strategies, options->limits, [&](size_t done, size_t all) {
      if (terminal) fmt::print(stderr, "\r{} of {} searches{}", done, all, done == all ? "\n" : "");
    });
    if (!options->csv.empty()) write_csv(result, options->csv);
    if (!options->plot.empty()) write_plot(result, options->plot);
    status = exit_ok;
    for (const MutantRun& run : result.runs)
      if (options->rows.is_json())
        options->rows.add({{"strategy", result.strategies[run.strategy].name},
                           {"flaw", result.mutants[run.mutant].name},
                           {"hard", result.mutants[run.mutant].is_hard},
                           {"seed", run.seed},
                           {"killed", run.killed},
                           {"cases", run.cases},
                           {"seconds", run.seconds}},
                          "");
    if (options->rows.is_json()) return options->rows.end();
    fmt::print("{} flaws, {} seeds, at most {} cases{} a run\n", result.mutants.size(), options->limits.seeds,
               options->limits.cases ? std::to_string(options->limits.cases) : "any number of",
               options->limits.seconds > 0 ? fmt::format(" and {} s", options->limits.seconds) : "");
    print_report(result);
  });
}

}  // namespace mmafuzz
