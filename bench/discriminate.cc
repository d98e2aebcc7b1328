// mmafuzz bench discriminate: how long the guided search takes to find an input on which two hypotheses about a matrix
// unit have different results, for the queries that Valpey et al. gave to solvers.
#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/bench.h"
#include "bench/discriminating_queries.h"
#include "bench/measured_rows.h"
#include "core/case_text.h"
#include "core/dot_case.h"
#include "core/json_text.h"
#include "search/guided_search.h"
#include "triage/way_to_add.h"

namespace mmafuzz {
namespace {

/// A query with its units bound.
struct BoundQuery {
  const Query& query;
  Op op;
  std::unique_ptr<Unit> first, second;

  explicit BoundQuery(const Query& q)
      : query(q), op(op_from_text(q.op)), first(bind_or_fail(q.first, op)), second(bind_or_fail(q.second, op)) {}
};

/// The search with one seed.
struct Run {
  uint64_t seed = 0, cases = 0;    ///< cases up to and including the found one, or all that were tried
  double seconds = 0;              ///< wall-clock time until then, with the rest of the found one's chunk
  std::optional<Batch> input;      ///< the found input, a single case; nullopt: none
  uint64_t first = 0, second = 0;  ///< encodings of the two units' results on it
};

/// Whether two results are finite and differ by more than the sign of a zero.
bool tell_apart(const FormatFields& f, uint64_t x, uint64_t y) {
  return x != y && !is_special(f, x) && !is_special(f, y) && !(is_zero(f, x) && is_zero(f, y));
}

/// Searches until an input is found or `limit` seconds are over.
Run search(const BoundQuery& bound, uint64_t seed, double limit) {
  constexpr size_t chunk_cases = 256;
  const double start = wall_seconds();
  const auto elapsed = [&] { return wall_seconds() - start; };
  const Unit& focus = bound.first->model() ? *bound.first : *bound.second;
  std::vector<GuidedSearch::Focus> focuses;
  focuses.push_back({focus.name(), corner_hints(focus.model()), make_functional_feedback(bound.op, focus.model())});
  GuidedSearch guided(bound.op, std::move(focuses), seed);

  Run run;
  run.seed = seed;
  Batch batch;
  Outcomes first, second;
  DotCase one(bound.op);
  for (uint64_t chunk = 0; elapsed() < limit; ++chunk) {
    guided.propose(chunk, run.cases, chunk_cases, batch);
    bound.first->run(batch, first);
    bound.second->run(batch, second);
    for (size_t i = 0; i < chunk_cases; ++i) {
      if (!tell_apart(bound.op.d.fields(), first.results.get(i), second.results.get(i))) continue;
      const DotOperands& in = one.load(batch, i);
      if (!is_finite_case(bound.op, in) || !bound.query.admits(bound.op, in)) continue;
      run.seconds = elapsed();
      run.cases += i + 1;
      run.input = Batch(bound.op);
      run.input->append(batch, i);
      run.first = first.results.get(i);
      run.second = second.results.get(i);
      return run;
    }
    guided.learn(guided.observe(chunk, run.cases, batch));
    run.cases += chunk_cases;
  }
  run.seconds = elapsed();
  return run;
}

/// Evaluates a found input again: by both units, by the slow twins of units that are rows, and by MPFR where the first
/// hypothesis is the exact result. Returns the first disagreement as text, or "".
std::string verify(const BoundQuery& bound, const Run& run) {
  std::vector<std::pair<std::string, uint64_t>> expected = {{bound.query.first, run.first},
                                                            {bound.query.second, run.second}};
  for (size_t i = 0; i < 2; ++i)
    if (const auto [name, result] = expected[i]; registry().role_of(name) == Role::model)
      expected.push_back({UnitName(name).under("twin").text(), result});
  if (bound.query.first_is_exact) expected.push_back({"exact:mpfr", run.first});
  for (const auto& [name, result] : expected) {
    const Outcomes outcomes = bind_or_fail(name, bound.op)->outcomes_of(*run.input);
    if (outcomes.results.get(0) != result)
      return fmt::format("{} gives {} on '{}', not {}", name, to_hex(bound.op.d, outcomes.results.get(0)),
                         case_line(*run.input, 0), to_hex(bound.op.d, result));
  }
  return "";
}

/// Quartiles, median (the lower of the two middle ones) and maximum; `values` is not empty.
struct Spread {
  double quartile1, median, quartile3, greatest;
  explicit Spread(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const auto rank = [&](size_t quarters) { return values[(values.size() - 1) * quarters / 4]; };
    quartile1 = rank(1), median = rank(2), quartile3 = rank(3), greatest = values.back();
  }
};

template <class T>
Spread spread_of(const std::vector<Run>& runs, T Run::*value) {
  std::vector<double> values;
  for (const Run& run : runs) values.push_back(double(run.*value));
  return Spread(std::move(values));
}

void print_header() {
  fmt::print("{:46} {:^31} {:^39}  {:>8} {:>8} {:>9}\n", "", "cases to the first input", "milliseconds", "Z3 s",
             "cvc5 s", "Z3 s");
  fmt::print("{:46} {:>7} {:>7} {:>7} {:>7} {:>9} {:>9} {:>9} {:>9}  {:>8} {:>8} {:>9}\n", "query", "q1", "median",
             "q3", "most", "q1", "median", "q3", "most", "table 4", "table 4", "4.8.12");
}

void print_query(const BoundQuery& bound, const std::vector<Run>& runs) {
  const Spread cases = spread_of(runs, &Run::cases), seconds = spread_of(runs, &Run::seconds);
  const PaperQuery& paper = *bound.query.paper;
  fmt::print("{:46} {:7.0f} {:7.0f} {:7.0f} {:7.0f} {:9.3f} {:9.3f} {:9.3f} {:9.3f}  {:>8} {:>8} {:>9}\n",
             bound.query.name, cases.quartile1, cases.median, cases.quartile3, cases.greatest, seconds.quartile1 * 1e3,
             seconds.median * 1e3, seconds.quartile3 * 1e3, seconds.greatest * 1e3, paper.z3, paper.cvc5,
             paper.z3_again);
  const auto missed = std::count_if(runs.begin(), runs.end(), [](const Run& r) { return !r.input; });
  if (missed) fmt::print("    nothing found with {} of {} seeds\n", missed, runs.size());
  const auto run = std::find_if(runs.begin(), runs.end(), [](const Run& r) { return r.input.has_value(); });
  if (run != runs.end()) {
    fmt::print("    {} against {}\n    op {}\n    {}  {} against {}\n", bound.query.first, bound.query.second,
               bound.query.op, case_line(*run->input, 0), to_hex(bound.op.d, run->first),
               to_hex(bound.op.d, run->second));
  }
  std::fflush(stdout);
}

nlohmann::json to_json(const BoundQuery& bound, const std::vector<Run>& runs) {
  nlohmann::json list = nlohmann::json::array();
  for (const Run& run : runs) {
    list.push_back({{"seed", run.seed}, {"seconds", run.seconds}, {"cases", run.cases}});
    if (!run.input) continue;
    list.back()["case"] = case_line(*run.input, 0);
    list.back()["results"] = {to_hex(bound.op.d, run.first), to_hex(bound.op.d, run.second)};
  }
  const PaperQuery& paper = *bound.query.paper;
  return {{"query", bound.query.name},
          {"op", bound.query.op},
          {"first", bound.query.first},
          {"second", bound.query.second},
          {"paper",
           {{"query", paper.name}, {"z3_4_8_9", paper.z3}, {"cvc5_1_0_2", paper.cvc5}, {"z3_4_8_12", paper.z3_again}}},
          {"runs", list}};
}

void write_csv(std::ostream& out, const BoundQuery& bound, const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    const std::string results = run.input ? to_hex(bound.op.d, run.first) + ',' + to_hex(bound.op.d, run.second) : ",";
    out << fmt::format("{},{},{:.9f},{},{},\"{}\",\"{}\",{},{}\n", bound.query.name, run.seed, run.seconds, run.cases,
                       bound.query.op, bound.query.first, bound.query.second, run.input ? case_line(*run.input, 0) : "",
                       results);
  }
}

struct DiscriminateOptions {
  uint64_t seeds = 20;
  double time = 60;
  std::string query = "*", csv;
  bool json = false;
};

int run_discriminate(const DiscriminateOptions& options) {
  std::ofstream csv;
  if (!options.csv.empty()) {
    csv.open(options.csv);
    csv << "query,seed,seconds,cases,op,first_unit,second_unit,case,first_result,second_result\n";
    if (!csv) throw BadInput(options.csv + ": cannot be written");
  }
  nlohmann::json all = nlohmann::json::array();
  int status = exit_ok;
  bool any = false;
  for (const Query& query : discriminating_queries()) {
    if (!matches_glob(options.query, query.name)) continue;
    if (!any && !options.json) print_header();
    any = true;
    const BoundQuery bound(query);
    std::vector<Run> runs;
    for (uint64_t seed = 1; seed <= options.seeds; ++seed) {
      runs.push_back(search(bound, seed, options.time));
      const std::string wrong = runs.back().input ? verify(bound, runs.back()) : "";
      if (!wrong.empty()) fmt::print(stderr, "mmafuzz: contract: {}\n", wrong);
      if (!wrong.empty() || !runs.back().input) status = exit_divergence;
    }
    if (options.json) all.push_back(to_json(bound, runs));
    else print_query(bound, runs);
    if (csv.is_open()) write_csv(csv, bound, runs);
  }
  if (!any) {
    std::string known;
    for (const Query& query : discriminating_queries()) known += " " + query.name;
    throw BadInput("no query matches '" + options.query + "'; known:" + known);
  }
  if (options.json) fmt::print("{}", json_text(all));
  if (csv.is_open() && !csv.flush()) throw BadInput(options.csv + ": cannot be written");
  return status;
}

}  // namespace

double search_seconds(const PaperQuery& line, uint64_t seeds, double limit) {
  double longest = 0;
  for (const Query& query : discriminating_queries()) {
    if (query.paper != &line) continue;
    const BoundQuery bound(query);
    std::vector<Run> runs;
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
      runs.push_back(search(bound, seed, limit));
      if (!runs.back().input || !verify(bound, runs.back()).empty()) return std::numeric_limits<double>::infinity();
    }
    longest = std::max(longest, spread_of(runs, &Run::seconds).median);
  }
  return longest;
}

void add_bench_discriminate(Arguments& bench, int& status) {
  auto options = std::make_shared<DiscriminateOptions>();
  Arguments* sub = bench.add_subcommand("discriminate", "Inputs that tell hypotheses about matrix units apart");
  sub->add_option("--seeds", options->seeds, "searches per query, seeds 1 to N (default 20)")->check(positive_count());
  sub->add_option("--time", options->time, "seconds at most per query and seed (default 60)")->check(positive_number());
  sub->add_option("--query", options->query, "only queries that match this glob, as in 'carry-bits/*'");
  sub->add_option("--csv", options->csv, "write every search to this file");
  sub->add_flag("--json", options->json, "print JSON");
  sub->footer(
      "An input holds finite operands, and each hypothesis makes a finite result of it.\n"
      "Every found input is evaluated again, rows by their slow twins too. Exit code 1 if a search found nothing,\n"
      "or if an evaluation disagrees.\n"
      "Example: mmafuzz bench discriminate --query 'carry-bits/*' --seeds 5");
  sub->callback([options, &status] { status = run_discriminate(*options); });
}

}  // namespace mmafuzz
