// mmafuzz bench identify: every row of the catalogue, random points of the space of parameters, and boxes outside of
// that space, each given to `identify` as an anonymous black box. The box of a row or point is its slow twin, which
// shares no code with the kernels.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "arithmetic/evaluate_dot.h"
#include "bench/bench.h"
#include "bench/boxes_outside.h"
#include "bench/measured_rows.h"
#include "core/function_unit.h"
#include "identify/fit.h"
#include "identify/identify.h"
#include "identify/questionnaire.h"
#include "identify/targeted_cases.h"
#include "oracles/models/model_rows.h"
#include "oracles/models/slow_twin.h"
#include "search/random_generators.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

struct IdentifyBench {
  std::string rows = "*";
  uint64_t points = 0, first_point = 0, seed = 1, compare = 1 << 17, verify = 0;
  bool no_rows = false, outside = false, questionnaires = false, verbose = false;
  IdentifySettings settings;
  MeasuredRows table;
};

std::unique_ptr<Unit> box_around(const DotModel& model) {
  return named(make_dot_unit([model](const DotOperands& in) { return slow_twin_dot(model, in); }), "box");
}

/// How an answer of `identify` compares with the truth, the model in the box.
struct Judgement {
  /// "exact"; "same": parameters differ, but no tried case has different results; "open": a case has, and the answer
  /// lists each differing parameter as undetermined; "WRONG"; "none": no model was named.
  const char* word;
  size_t undetermined = 0;  ///< number of parameters, and the kernel, that differ from the truth
};

/// Whether two models differ on one of `cases` structured or `cases` random cases, which do not depend on the search of
/// `identify`, or on one of fewer (max_targeted) made for the parameters of either model, as that search makes them.
bool told_apart(const Op& op, const DotModel& x, const DotModel& y, uint64_t cases) {
  constexpr uint64_t seed = 977, max_targeted = 1 << 15;
  DotCase one(op);
  constexpr size_t chunk = 4096;
  const StructuredGenerator structured(op, seed);
  const RandomGenerator spread(op, RandomKind::spread, seed);
  const TargetedCases targeted_x(op, x, seed), targeted_y(op, y, seed);
  for (uint64_t first = 0; first < cases; first += chunk) {
    for (int kind = 0; kind < 4; ++kind) {
      if (kind >= 2 && (op.a.fields().integer || first >= max_targeted)) continue;
      Batch batch(op);
      if (kind == 0) structured.fill(first, chunk, batch);
      else if (kind == 1) spread.fill(first, chunk, batch);
      else batch.resize(chunk);
      for (size_t i = 0; i < batch.size(); ++i) {
        if (kind >= 2) (kind == 2 ? targeted_x : targeted_y).make(first + i, batch, i);
        const DotOperands& in = one.load(batch, i);
        if (!same_result(op, evaluate_dot(x, in), evaluate_dot(y, in))) return true;
      }
    }
  }
  return false;
}

/// Whether the kernel and the slow twin differ on one of 4096 cases, so that the box, a slow twin, is not the model.
bool differs_from_twin(const Op& op, const DotModel& m) {
  DotCase one(op);
  Batch batch;
  StructuredGenerator(op, 31).fill(0, 4096, batch);
  for (size_t i = 0; i < batch.size(); ++i) {
    const DotOperands& in = one.load(batch, i);
    if (evaluate_dot(m, in) != slow_twin_dot(m, in)) return true;
  }
  return false;
}

/// Whether the answer lists, for each parameter that it got wrong, the true value among the undetermined ones. Where
/// the kernel is wrong, only the kernel is checked.
bool says_what_is_open(const Identification& id, const DotModel& truth) {
  const size_t compared = truth.kernel == id.model->kernel ? id.parameters.size() : 1;  // the kernel is the first
  const auto is_right_or_open = [&](const ParameterFinding& finding) {
    const int64_t value = finding.parameter->get(truth);
    const auto lists = [&](const Undetermined& u) {
      return std::find(u.values.begin(), u.values.end(), value) != u.values.end();
    };
    return value == finding.value || std::any_of(finding.undetermined.begin(), finding.undetermined.end(), lists);
  };
  return std::all_of(id.parameters.begin(), id.parameters.begin() + static_cast<std::ptrdiff_t>(compared),
                     is_right_or_open);
}

Judgement judge(const Identification& id, const DotModel& truth, uint64_t compare) {
  if (id.verdict != IdentifyVerdict::identified) return {"none"};
  const Op& op = id.evidence.op();
  if (!id.model) return {"WRONG"};
  Judgement j{"exact"};
  for (const Parameter& p : parameters()) j.undetermined += p.used_by(truth.kernel) && p.get(*id.model) != p.get(truth);
  j.undetermined += truth.kernel != id.model->kernel;
  if (j.undetermined == 0) return j;
  if (!told_apart(op, truth, *id.model, compare)) j.word = "same";
  else j.word = says_what_is_open(id, truth) ? "open" : "WRONG";
  return j;
}

struct Totals {
  std::vector<size_t> dots, rounds;          ///< by box
  std::vector<double> seconds;               ///< by box, processor time
  std::map<std::string_view, size_t> boxes;  ///< by Judgement::word
};

template <class T>
T median(std::vector<T> values) {
  if (values.empty()) return T{};
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}
template <class T>
T greatest(const std::vector<T>& values) {
  return values.empty() ? T{} : *std::max_element(values.begin(), values.end());
}

/// A line of the Markdown table of docs/notes/2026-11-23-identify.md.
void add_row(MeasuredRows& table, const std::string& name, std::string_view named, size_t open, size_t dots,
             size_t rounds, uint64_t held, double seconds) {
  table.add({{"box", name},
             {"named", named},
             {"open", open},
             {"dots", dots},
             {"rounds", rounds},
             {"held", held},
             {"seconds", seconds}},
            fmt::format("| {:<64} | {:>5} | {:>4} | {:>5} | {:>3} | {:>7} | {:>5.1f} |", name, named, open, dots,
                        rounds, held, seconds));
}

void identify_box(const std::string& name, const Op& op, const DotModel& truth, IdentifyBench& options,
                  Totals& totals) {
  const std::unique_ptr<Unit> box = box_around(truth);
  const double before = processor_seconds();
  const Identification id = identify(*box, op, options.settings);
  const double seconds = processor_seconds() - before;
  const Judgement j = judge(id, truth, options.compare);
  const std::string_view word = j.word;
  ++totals.boxes[word];
  totals.dots.push_back(id.dots);
  totals.rounds.push_back(id.rounds);
  totals.seconds.push_back(seconds);
  add_row(options.table, name, word, j.undetermined, id.dots, id.rounds, id.verified.cases, seconds);
  if (options.verbose && word != "exact") {
    options.table.say(fmt::format("    truth {}\n    found {} {}", custom_name(truth, op), id.name, id.reason));
    if (differs_from_twin(op, truth))
      options.table.say(fmt::format("    the row and its twin differ: the box is not this row"));
    for (const Refuted& r : id.best)
      options.table.say(fmt::format("    best {} {} of {}", r.hypothesis, r.mismatches, id.evidence.size()));
  }
}

void print_totals(const MeasuredRows& table, const char* what, Totals& t) {
  table.say(fmt::format(
      "\n{}: {} boxes: {} exact, {} not told apart by any case, {} with what is open said, {} not named, {} named "
      "wrongly; dots median {} "
      "greatest {}, rounds median {} greatest {}, seconds median {:.1f} greatest {:.1f}",
      what, t.dots.size(), t.boxes["exact"], t.boxes["same"], t.boxes["open"], t.boxes["none"], t.boxes["WRONG"],
      median(t.dots), greatest(t.dots), median(t.rounds), greatest(t.rounds), median(t.seconds), greatest(t.seconds)));
}

/// Runs the boxes outside the space; returns how many were named, which is wrong.
size_t run_outside(IdentifyBench& options) {
  size_t wrong = 0;
  for (const BoxOutside& box : boxes_outside()) {
    const double before = processor_seconds();
    const Identification id = identify(*box.make(), box.op, options.settings);
    const bool is_named = id.verdict == IdentifyVerdict::identified;
    wrong += is_named;
    add_row(options.table, box.name + ": " + box.flaw, is_named ? "WRONG" : "none", 0, id.dots, id.rounds,
            id.verified.cases, processor_seconds() - before);
    if (options.verbose) options.table.say(fmt::format("    {}{}", id.name, id.reason));
  }
  options.table.say(fmt::format("\noutside: {} boxes, {} named wrongly", boxes_outside().size(), wrong));
  return wrong;
}

/// Answers the questionnaire of each row's op by the row's slow twin, and counts the rows that are named without a
/// second round. Returns how many were named wrongly.
size_t run_questionnaires(IdentifyBench& options) {
  std::map<std::string, Batch> asked;  // by op
  std::set<std::string> contents;
  size_t rows = 0, named_rows = 0, wrong = 0, most = 0;
  for (const ModelRow& row : model_rows()) {
    if (!matches_glob(options.rows, row.name()) || !contents.insert(function_of(row)).second) continue;
    auto known = asked.find(to_text(row.op));
    if (known == asked.end()) known = asked.emplace(to_text(row.op), questionnaire(row.op)).first;
    const Batch& cases = known->second;
    Evidence evidence(row.op);
    DotCase one(row.op);
    for (size_t i = 0; i < cases.size(); ++i) evidence.add(cases, i, slow_twin_dot(row.model, one.load(cases, i)), 0);
    const double before = processor_seconds();
    const Identification id = identify_from(std::move(evidence), options.settings);
    const Judgement j = judge(id, row.model, options.compare);
    ++rows;
    named_rows += id.verdict == IdentifyVerdict::identified;
    wrong += std::string_view(j.word) == "WRONG";
    most = std::max(most, cases.size());
    add_row(options.table, row.name(), j.word, j.undetermined, cases.size(), id.next_cases ? id.next_cases->size() : 0,
            0, processor_seconds() - before);
    if (options.verbose && id.verdict != IdentifyVerdict::identified)
      options.table.say(fmt::format("    {}", id.reason));
  }
  options.table.say(
      fmt::format("\nquestionnaires of at most {} dots: {} of {} rows named without a second round, {} named wrongly",
                  most, named_rows, rows, wrong));
  return wrong;
}

int run_identify_bench(IdentifyBench& options) {
  options.table.say(fmt::format("| {:<64} | {:>5} | {:>4} | {:>5} | {:>3} | {:>7} | {:>5} |\n|{:-<66}|{}", "box",
                                "named", "open", "dots", "rnd", "held", "s", "",
                                "------:|-----:|------:|----:|--------:|------:|"));
  if (options.questionnaires) return run_questionnaires(options) ? exit_divergence : exit_ok;
  int status = exit_ok;
  Totals rows;
  if (!options.no_rows) {
    std::set<std::string> contents;
    size_t repeated = 0;
    for (const ModelRow& row : model_rows()) {
      if (!matches_glob(options.rows, row.name())) continue;
      if (!contents.insert(function_of(row)).second) ++repeated;
      else identify_box(row.name(), row.op, row.model, options, rows);
    }
    options.table.say(fmt::format("\n{} more rows have the op and the parameters of a row above", repeated));
    print_totals(options.table, "rows", rows);
    if (rows.boxes["WRONG"] || rows.boxes["none"]) status = exit_divergence;
  }
  Totals points;
  for (uint64_t n = options.first_point; n < options.first_point + options.points; ++n) {
    const auto [op, model] = random_point(options.seed, n);
    identify_box("point " + std::to_string(n) + " " + parameter_text(*find_parameter("kernel"), model) + " " +
                     op.d.name() + "." + op.a.name() + "." + op.b.name() + " k=" + std::to_string(op.k),
                 op, model, options, points);
  }
  if (options.points) print_totals(options.table, "points", points);
  if (points.boxes["WRONG"]) status = exit_divergence;
  if (options.outside && run_outside(options)) status = exit_divergence;
  return status;
}

}  // namespace

void add_bench_identify(Arguments& bench, int& status) {
  auto options = std::make_shared<IdentifyBench>();
  options->settings.seconds = 600;  // wall-clock limit on a possibly busy machine; processor time is printed
  Arguments* sub = bench.add_subcommand("identify", "Black boxes of known content, offered to identify");
  sub->add_option("--rows", options->rows, "only rows that match this glob");
  sub->add_flag("--no-rows", options->no_rows, "no rows");
  sub->add_flag("--outside", options->outside, "boxes that no row describes");
  sub->add_flag("--questionnaires", options->questionnaires,
                "only this: every row answers the fixed questions of its op; rnd is the size of a second round");
  sub->add_option("--points", options->points, "random points of the space")->check(unsigned_number());
  sub->add_option("--first-point", options->first_point, "number of the first one")->check(unsigned_number());
  sub->add_option("--seed", options->seed, "seed of the points")->check(unsigned_number());
  sub->add_option("--verify", options->verify, "cases of each verification")->check(unsigned_number());
  sub->add_flag("--verbose", options->verbose, "print what was found where it is not the truth");
  options->table.add_json_flag(*sub);
  sub->footer(
      "exact: every parameter as in the box; same: some differ, and none of 131072 structured and 131072 random cases\n"
      "tells, nor of 32768 made for either row; open: a case does, and the answer lists each true value as one that\n"
      "nothing told apart; none: no name.\n"
      "Exit code 1 if a row is not named, or a box is named wrongly.\n"
      "Example: mmafuzz bench identify --rows 'volta/*' --points 20");
  sub->callback([options, sub, &status] {
    if (sub->count("--verify")) options->settings.verify = options->verify;
    status = run_identify_bench(*options);
    options->table.end();
  });
}

}  // namespace mmafuzz
