// mmafuzz fuzz: a seeded search guided by functional coverage. Units are compared with the units that they claim to
// equal, checked for properties, and compared with each other (docs/concepts.md, "Severity"). Results depend on seed
// and number of cases alone, not on threads (search/parallel_search.h). A Comparison is the units that are compared on
// one op; Findings are what they showed, a chunk of cases at a time.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/run_files.h"
#include "core/case_text.h"
#include "core/text.h"
#include "core/parallel.h"
#include "plan/default_fields.h"
#include "oracles/properties/properties.h"
#include "search/any_op.h"
#include "search/parallel_search.h"
#include "search/walked_states.h"

namespace mmafuzz::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t ops_at_once = 64;  ///< ops of --op any that are searched in parallel and then merged

/// Merges the findings of chunks in order, and prints the first divergence of each new bucket (kind of divergence).
class Merger {
 public:
  Merger(bool json, bool quiet) : is_json_(json), is_quiet_(quiet), is_on_terminal_(isatty(STDERR_FILENO) != 0) {}

  void merge(const Comparison& comparison, Findings chunk) {
    AnswerCounts on_op;
    for (const auto& [unit, count] : chunk.answers) on_op[unit + " on '" + to_text(comparison.op()) + "'"] += count;
    chunk.answers = std::move(on_op);
    total_.add(chunk, [&](const Finding& finding) {
      comparison.confirm(finding.first);
      if (!is_json_ && (!is_quiet_ || finding.severity != Severity::semantic)) print(finding.first);
    });
  }

  /// Merges the findings of op `number`, from 0, of the ops of --op any; a new bucket is printed with that number.
  void merge_op(const Op& op, uint64_t number, const Findings& found) {
    const uint64_t before = total_.cases;
    ops_ += found.compared > 0;
    total_.add(found, [&](const Finding& finding) {
      if (is_json_) return;
      print(finding.first);
      fmt::print("    {}  (op {}, after {})\n", to_text(op), number, counted(before, "case"));
    });
  }
  uint64_t ops() const { return ops_; }

  /// Shows the progress: on a terminal in one line that is overwritten, elsewhere in a line every 30 seconds.
  void progress(const std::string& op) {
    const auto now = Clock::now();
    const double since_last = std::chrono::duration<double>(now - last_progress_).count();
    if (is_json_ || since_last < (is_on_terminal_ ? 0.25 : 30)) return;
    last_progress_ = now;
    const std::string line =
        fmt::format("{:.0f} s  {}  {} of divergence  {}", std::chrono::duration<double>(now - start_).count(),
                    counted(total_.cases, "case"), counted(total_.buckets.size(), "kind"), op);
    fmt::print(stderr, "{}{}{}", is_on_terminal_ ? "\r" : "mmafuzz: ", line, is_on_terminal_ ? "\x1b[K" : "\n");
  }
  void end_progress() const {
    if (is_on_terminal_ && !is_json_) fmt::print(stderr, "\r\x1b[K");
  }

  const Findings& total() const { return total_; }
  /// The numbers of differing cases since the last call, keyed by the names of two units.
  std::map<std::pair<std::string, std::string>, uint64_t> take_differing() {
    return std::exchange(total_.differing, {});
  }

 private:
  void print(const Divergence& d) {
    end_progress();
    fmt::print("{}: {}\n", name_of(d.severity), d.key.to_string());
    for (size_t i = 0; i < d.cases.size(); ++i) fmt::print("    {}\n", case_line(d.cases, i));
    std::string results;
    for (const uint64_t r : d.results)
      results += (results.empty() ? "" : " against ") + to_hex(d.cases.op().result_format(d.element), r);
    fmt::print("    {}\n", results.empty() ? "no answer" : results);
    std::fflush(stdout);
  }

  Clock::time_point start_ = Clock::now(), last_progress_ = start_;
  Findings total_;
  uint64_t ops_ = 0;  ///< the ops given to merge_op() on which something was compared
  bool is_json_, is_quiet_, is_on_terminal_;
};

/// Prints a table of units against units: the share of the cases on which they differ.
void print_matrix(const Comparison& comparison, uint64_t cases,
                  const std::map<std::pair<std::string, std::string>, uint64_t>& differing) {
  fmt::print("\n{}: {}; cases in 10,000 on which two units differ\n", to_text(comparison.op()), counted(cases, "case"));
  const size_t n = comparison.units().size();
  size_t width = 0;
  for (size_t i = 0; i < n; ++i) width = std::max(width, comparison.units()[i]->name().size());
  for (size_t i = 0; i < n; ++i) {
    fmt::print("{:>3} {:{}}", i, comparison.units()[i]->name(), i ? width : 0);
    for (size_t j = 0; j < i; ++j) {
      const auto found = differing.find({comparison.units()[j]->name(), comparison.units()[i]->name()});
      const double share = found == differing.end() ? 0 : double(found->second) / double(cases) * 1e4;
      if (share == 0) fmt::print("     -");
      else fmt::print("{:6.0f}", std::max(share, 1.0));
    }
    fmt::print("\n");
  }
}

/// Prints for each row how many levels, pairs and triples of its datapath's states the walks have met (docs/search.md).
void print_states(const Comparison& comparison, uint64_t seed, uint64_t cases, unsigned threads) {
  const std::vector<StatesOfUnit> all = states_of_search(comparison, seed, cases, threads);
  if (all.empty()) {
    fmt::print("\nno walk of states: only rows have one, on dots of floating-point numbers\n");
    return;
  }
  size_t width = 4;
  for (const StatesOfUnit& one : all) width = std::max(width, one.unit.size());
  fmt::print("\nstates met by the walk, of those that may be (docs/search.md)\n{:{}} {:>9} {:>14} {:>22} {:>18}\n",
             "unit", width, "cases", "levels", "pairs", "triples");
  const auto share = [](const StatePairs::Count& c) { return fmt::format("{} of {}", c.covered, c.possible); };
  for (const auto& [unit, states] : all)
    fmt::print("{:{}} {:>9} {:>14} {:>22} {:>18}\n", unit, width, states.cases(), share(states.levels()),
               share(states.pairs()), share(states.triples()));
}

nlohmann::json to_json(const Findings& total) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [key, entry] : total.buckets) {
    nlohmann::json cases = nlohmann::json::array(), results = nlohmann::json::array();
    for (size_t i = 0; i < entry.first.cases.size(); ++i) cases.push_back(case_line(entry.first.cases, i));
    for (const uint64_t r : entry.first.results)
      results.push_back(to_hex(entry.first.cases.op().result_format(entry.first.element), r));
    list.push_back({{"property", key.property},
                    {"op", to_text(entry.first.cases.op())},
                    {"units", key.units},
                    {"value_class", key.value_class},
                    {"severity", name_of(entry.severity)},
                    {"count", entry.count},
                    {"cases", cases},
                    {"results", results}});
  }
  return {{"cases", total.cases}, {"compared", total.compared}, {"buckets", list}};
}

constexpr double default_seconds = 20, unlimited_seconds = 1e9;

struct FuzzOptions {
  std::vector<std::string> ops, units;
  uint64_t seed = 1, cases = 0, op_count = 0;
  double time = 0;
  unsigned threads = 0;
  std::string fail_on = "contract";
  bool json = false, quiet = false, states = false;
};

/// Prints the closing lines and returns the exit code.
int finish(const FuzzOptions& options, const Merger& merger) {
  const Findings& total = merger.total();
  std::map<Severity, size_t> kinds;
  for (const auto& [key, entry] : total.buckets) ++kinds[entry.severity];
  if (options.json) {
    print_object(to_json(total));
  } else {
    fmt::print("\n{}, {}, seed {}; kinds of divergence: {} contract, {} accuracy, {} semantic\n",
               counted(total.cases, "case"), counted(total.compared, "comparison"), options.seed,
               kinds[Severity::contract], kinds[Severity::accuracy], kinds[Severity::semantic]);
  }
  if (total.compared == 0)
    throw BadInput("nothing was compared: give at least two units, or one that claims a model or a property");
  const bool failed = kinds[Severity::contract] || (options.fail_on != "contract" && kinds[Severity::accuracy]) ||
                      (options.fail_on == "semantic" && kinds[Severity::semantic]);
  return judge_answers(total.answers, failed ? exit_divergence : exit_ok);
}

/// --op any: searches ops of a generator in parallel and merges their findings in order, up to --time or --ops.
int run_any(const FuzzOptions& options, Clock::time_point start, double time, unsigned threads, Merger& merger) {
  if (options.ops.size() > 1 || !options.units.empty())
    throw BadInput("--op any stands alone: it draws the ops and takes every unit that accepts them");
  const OpGenerator generator(options.seed, ops_of_models());
  const uint64_t limit = options.op_count ? options.op_count : options.time > 0 ? UINT64_MAX : generator.suite_size();
  const size_t cases = options.cases ? static_cast<size_t>(options.cases) : 16;
  const auto deadline = start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time));
  const UnitIndex index(registry());
  const AnyOp any(
      registry(), [&](const Op& op) { return index.accepting(op); }, all_properties());
  for (uint64_t first = 0; first < limit && Clock::now() < deadline; first += ops_at_once) {
    std::vector<Findings> found(static_cast<size_t>(std::min(ops_at_once, limit - first)));
    std::vector<Op> ops(found.size());
    in_parallel(threads, found.size(), [&](size_t i) {
      if (Clock::now() >= deadline) return;
      ops[i] = generator(first + i);
      found[i] = any.examine(ops[i], options.seed + first + i, cases);
    });
    for (size_t i = 0; i < found.size(); ++i) merger.merge_op(ops[i], first + i, found[i]);
    merger.progress(counted(first + found.size(), "op"));
  }
  merger.end_progress();
  if (!options.json) fmt::print("{} that some unit evaluates", counted(merger.ops(), "op"));  // finish() ends the line
  return finish(options, merger);
}

int run_fuzz(const FuzzOptions& options) {
  const bool is_any = std::find(options.ops.begin(), options.ops.end(), "any") != options.ops.end();
  if (options.cases && options.time > 0 && !is_any) throw BadInput("give --cases or --time, not both");
  if (options.states && (is_any || options.json)) throw BadInput("--states is a table of named ops, not with --json");
  if (options.op_count && !is_any) throw BadInput("--ops counts the ops of --op any");
  const double time = options.time > 0 ? options.time : options.cases || is_any ? unlimited_seconds : default_seconds;
  const unsigned threads = options.threads ? options.threads : hardware_threads();
  Merger merger(options.json, options.quiet);
  const auto start = Clock::now();
  if (is_any) return run_any(options, start, time, threads, merger);
  std::vector<Op> ops;
  for (const std::string& text : options.ops) ops.push_back(op_from_text(text));
  if (ops.empty())
    for (const OpKind kind : {OpKind::dot, OpKind::scalar, OpKind::convert})
      for (const Op& op : default_ops(kind)) ops.push_back(op);
  check_patterns(registry(), ops, split_units(options.units));
  std::vector<Comparison> comparisons;
  for (const Op& op : ops) {
    const std::vector<std::string> names = units_of(split_units(options.units), op);
    if (names.empty()) throw BadInput("no unit evaluates '" + to_text(op) + "'");
    for (const std::string& name : names) bind_or_fail(name, op);
    comparisons.emplace_back(op, names, registry(), all_properties());
  }
  const uint64_t cases = options.cases ? options.cases : UINT64_MAX;
  for (size_t i = 0; i < comparisons.size(); ++i) {
    const auto share = std::chrono::duration<double>(time * double(i + 1) / double(comparisons.size()));
    const uint64_t before = merger.total().cases;
    const SearchLimits limits{options.seed, cases, start + std::chrono::duration_cast<Clock::duration>(share), threads};
    search_in_parallel(
        comparisons[i], limits, [&](Findings chunk) { merger.merge(comparisons[i], std::move(chunk)); },
        [&] { merger.progress(to_text(comparisons[i].op())); });
    merger.end_progress();
    const auto differing = merger.take_differing();
    if (!options.json) print_matrix(comparisons[i], merger.total().cases - before, differing);
    if (options.states) print_states(comparisons[i], options.seed, merger.total().cases - before, threads);
  }
  return finish(options, merger);
}

}  // namespace

void add_fuzz(Arguments& app, int& status) {
  auto options = std::make_shared<FuzzOptions>();
  Arguments* sub = app.add_subcommand("fuzz", "Search structured operands for divergences");
  sub->add_option("--op", options->ops,
                  "op line, repeatable, or `any` (default: a list of dots, scalar operations and conversions)")
      ->allow_extra_args(false);
  sub->add_option(
      "--units", options->units,
      "units to compare, comma-separated names and globs (default: all with their own arithmetic, which the word "
      "`default` names)");
  sub->add_option("--seed", options->seed, "seed of the search")->check(unsigned_number());
  sub->add_option("--cases", options->cases, "cases for each op (with --op any: default 16)")->check(positive_count());
  sub->add_option("--ops", options->op_count,
                  "with --op any: number of ops (default: until every two features have met)")
      ->check(positive_count());
  sub->add_option("--time", options->time,
                  fmt::format("seconds for all ops together, instead of --cases (default {:.0f})", default_seconds))
      ->check(positive_number());
  sub->add_option("--threads", options->threads, "threads (default: all cores)")->check(in_range(1, 1024));
  sub->add_option("--fail-on", options->fail_on, "contract (default, always included), accuracy or semantic")
      ->check(one_of({"contract", "accuracy", "semantic"}));
  sub->add_flag("--json", options->json, "print one JSON object at the end");
  sub->add_flag("-q,--quiet", options->quiet, "print semantic divergences only as counts");
  sub->add_flag("--states", options->states,
                "after each op, which pairs of the datapath's levels its walk has met (docs/search.md)");
  add_rows_option(*sub);
  sub->footer(
      "Same seed and --cases N: the same findings on any number of threads. --time cannot promise that.\n"
      "Example: mmafuzz fuzz --op 'dot a=fp16 b=fp16 c=fp32 d=fp32 k=16' --units "
      "exact,model:hopper/mma.m16n8k16.f32.f16.f16.f32 --seed 7 --cases 1000000");
  sub->callback([options, &status] { status = run_fuzz(*options); });
}

}  // namespace mmafuzz::cli
