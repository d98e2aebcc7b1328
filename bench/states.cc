// mmafuzz bench states: how many pairs and triples of the datapath's levels the walk of states covers on each row of
// floating-point numbers, the least covered row first. For one row: by kind of factor, and the pairs that are missing.
// (search/datapath_state.h: a factor is a quantity of the datapath, a level a class of its values.)
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "bench/bench.h"
#include "bench/measured_rows.h"
#include "core/parallel.h"
#include "oracles/models/model_rows.h"
#include "plan/default_fields.h"
#include "plan/registry.h"
#include "search/datapath_walks.h"
#include "search/walked_states.h"

namespace mmafuzz {
namespace {

struct StatesOptions {
  std::string unit, op;
  uint64_t seed = 1, cases = 0;
  static constexpr size_t as_usual = SIZE_MAX;
  size_t missing = as_usual;

  size_t missing_or(size_t usual) const { return missing == as_usual ? usual : missing; }
};

/// The levels that the whole walk of states covers on one row.
StatePairs walked(const Op& op, const DotModel& model, uint64_t seed) {
  const DatapathWalks walks(op, corner_hints(&model), seed);
  return walked_states(op, model, {{&walks, UINT64_MAX}});
}

double percent(const StatePairs::Count& c) { return c.possible ? 100.0 * double(c.covered) / double(c.possible) : 100; }

void show(const StatePairs& states, const StatesOptions& options) {
  for (int i = 0; i < DatapathState::kinds; ++i)
    for (int j = i; j < DatapathState::kinds; ++j) {
      const auto x = static_cast<DatapathState::Kind>(i), y = static_cast<DatapathState::Kind>(j);
      const StatePairs::Count c = states.pairs(x, y);
      if (c.possible)
        fmt::print("{:9} {:9} {:>8} of {:>8}  {:6.2f} %\n", DatapathState::name_of(x), DatapathState::name_of(y),
                   c.covered, c.possible, percent(c));
    }
  const StatePairs::Count pairs = states.pairs(), triples = states.triples();
  fmt::print("pairs {} of {}, {:.3f} %; triples {} of {}, {:.3f} %; after {} cases\n", pairs.covered, pairs.possible,
             percent(pairs), triples.covered, triples.possible, percent(triples), states.cases());
  for (const std::string& level : states.uncovered_levels()) fmt::print("level not met: {}\n", level);
  for (const std::string& pair : states.uncovered(options.missing_or(20))) fmt::print("not met: {}\n", pair);
  for (const std::string& pair : states.contradictions()) fmt::print("wrongly ruled out: {}\n", pair);
}

void show_row(const StatesOptions& options) {
  const Op op = op_from_text(options.op);
  const std::unique_ptr<Unit> unit = bind_or_fail(options.unit, op);
  if (!unit->model()) throw BadInput("no row: " + options.unit);
  show(walked(op, *unit->model(), options.seed), options);
}

struct RowStates {
  std::string name;
  StatePairs::Count levels, pairs, triples;
  uint64_t cases = 0;
  size_t wrong = 0;
  std::vector<std::string> missing;
};
RowStates row_states(const std::string& name, const StatePairs& s, size_t max_missing) {
  return {name, s.levels(), s.pairs(), s.triples(), s.cases(), s.contradictions().size(), s.uncovered(max_missing)};
}

void show(std::vector<RowStates> rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const RowStates& x, const RowStates& y) { return percent(x.pairs) < percent(y.pairs); });
  for (const RowStates& row : rows) {
    fmt::print("{} of {} levels, {:6.2f} % of {:>8} pairs, {:6.2f} % of {:>7} triples, {:>7} cases{}  {}\n",
               row.levels.covered, row.levels.possible, percent(row.pairs), row.pairs.possible, percent(row.triples),
               row.triples.possible, row.cases, row.wrong ? fmt::format(" WRONG {}", row.wrong) : "", row.name);
    for (const std::string& pair : row.missing) fmt::print("  not met: {}\n", pair);
  }
}

/// The same after a search of options.cases cases on the default units of an op; each unit runs the walks of all.
void show_search(const StatesOptions& options) {
  std::vector<Op> ops;
  if (options.op.empty()) ops = default_ops(OpKind::dot);
  else ops.push_back(op_from_text(options.op));
  std::vector<RowStates> rows;
  for (const Op& op : ops) {
    const Comparison field(op, units_of({}, op), registry(), {});
    for (const auto& [unit, states] : states_of_search(field, options.seed, options.cases, hardware_threads())) {
      if (unit == options.unit) return show(states, options);
      rows.push_back(row_states(unit, states, options.missing_or(0)));
    }
  }
  if (!options.unit.empty()) throw BadInput("no row that is searched by default: " + options.unit);
  if (rows.empty()) throw BadInput("no walk of states: only rows have one, on dots of floating-point numbers");
  show(std::move(rows));
}

void show_all(const StatesOptions& options) {
  std::vector<const ModelRow*> rows;
  std::set<std::string> seen;
  for (const ModelRow& row : model_rows())
    if (!row.op.a.fields().integer && seen.insert(function_of(row)).second) rows.push_back(&row);
  std::vector<RowStates> all(rows.size());
  in_parallel(hardware_threads(), rows.size(), [&](size_t i) {
    all[i] = row_states(rows[i]->name(), walked(rows[i]->op, rows[i]->model, options.seed), options.missing_or(0));
  });
  show(std::move(all));
}

}  // namespace

void add_bench_states(Arguments& bench, int& status) {
  auto options = std::make_shared<StatesOptions>();
  Arguments* sub = bench.add_subcommand("states", "Pairs of the datapath's levels that the walk of states meets");
  Argument* unit = sub->add_option("--unit", options->unit, "only this row, in detail");
  Argument* op = sub->add_option("--op", options->op, "the row's op");
  unit->needs(op);
  sub->add_option(
         "--cases", options->cases,
         "instead of whole walks what a search of so many cases makes of them, of all default units of OP or of "
         "the default ops; each row sees the walks of all")
      ->check(unsigned_number());
  sub->add_option("--missing", options->missing,
                  "of each row, pairs to print that were not met (default: 20 of one row)")
      ->check(unsigned_number());
  sub->add_option("--seed", options->seed, "seed of the walk")->capture_default_str()->check(unsigned_number());
  sub->footer("Example: mmafuzz bench states");
  sub->callback([options, &status] {
    if (!options->cases && options->unit.empty() != options->op.empty()) throw BadInput("--op needs --unit or --cases");
    options->cases ? show_search(*options) : options->unit.empty() ? show_all(*options) : show_row(*options);
    status = exit_ok;
  });
}

}  // namespace mmafuzz
