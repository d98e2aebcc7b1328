// Steps that run known cases on the device: recorded results, discriminators (cases on which published descriptions
// disagree), published vectors.

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "core/property.h"
#include "core/text.h"
#include "oracles/models/model_rows.h"
#include "survey/survey.h"
#include "core/registry.h"

namespace mmafuzz::survey {
namespace {

namespace fs = std::filesystem;

/// Case files of a folder and its subfolders, sorted.
std::vector<std::string> case_files(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().string();
    if (name.ends_with(".cases") || name.ends_with(".cases.gz")) files.push_back(name);
  }
  std::sort(files.begin(), files.end());
  return files;
}

void visit_blocks(const std::vector<std::string>& files, const std::function<void(const CaseBlock&)>& visit) {
  for (const std::string& file : files) visit_cases(file, 4096, visit);
}

/// Runs a batch on the device twice, at different positions in the tiles; counts results that depend on the position or
/// the time. Returns the first run.
Outcomes run_twice(Context& context, const std::string& name, const Batch& batch, Json& result,
                   const std::string& step) {
  const std::unique_ptr<Unit> unit = bound_or_null(context.registry, name, batch.op()),
                              elsewhere = bound_or_null(context.registry, name + "?placement=1", batch.op());
  Outcomes first, second;
  run_or_lose(context, *unit, batch, first);
  run_or_lose(context, *elsewhere, batch, second);
  uint64_t unstable = 0;
  for (size_t c = 0; c < batch.size(); ++c) {
    if (first.results.get(c) == second.results.get(c)) continue;
    if (unstable++ == 0 && result.value("unstable", 0) == 0)
      context.book.note_finding("unstable", step, name,
                                "the second answer differs, at another place of the tile: " +
                                    difference_text(batch, c, first.results.get(c), "then", second.results.get(c)));
  }
  result["unstable"] = result.value("unstable", uint64_t{0}) + unstable;
  return first;
}

constexpr uint64_t most_listed_differences = 5;  ///< differences whose cases a step's result lists

/// Counts results that differ from the expected ones under the NaN policy of `op`, the batch's op but for that.
/// `source` names who gives the expected results.
void note_differences(Context& context, Json& result, const std::string& step, const std::string& unit, const Op& op,
                      const Batch& batch, const Column& got, const Column& expected, const std::string& source) {
  for (size_t c = 0; c < batch.size(); ++c) {
    if (same_result(op, got.get(c), expected.get(c))) continue;
    const uint64_t n = result.value("differs", uint64_t{0}) + 1;
    result["differs"] = n;
    if (n > most_listed_differences) continue;
    const std::string text = difference_text(batch, c, got.get(c), source, expected.get(c));
    result["first"].push_back(text);
    if (n == 1) context.book.note_finding("divergence", step, unit, text);
  }
}

/// Cases of one op, each once.
struct CaseSet {
  Batch batch;
  std::set<std::string> seen;
  void add(const Batch& from, size_t index) {
    if (seen.insert(case_line(from, index)).second) batch.append(from, index);
  }
};

}  // namespace

std::vector<Step> control_steps(Context& context) {
  struct Recording {
    std::string unit, model;
    Batch batch;
    Column expected;
  };
  const auto recordings = std::make_shared<std::vector<Recording>>();
  const auto collect = [&](const std::vector<std::string>& files, bool takes_models) {
    visit_blocks(files, [&](const CaseBlock& block) {
      if (block.batch.op().kind != OpKind::dot) return;
      std::string model;
      if (const Result<std::string> known = model_of_provenance(block.unit)) model = *known;
      const UnitName unit(block.unit);
      if (takes_models && unit.backend == "model" && unit.settings.empty()) model = block.unit;
      if (!model.starts_with("model:" + context.family + "/")) return;
      Recording recording{block.unit, model, Batch(block.batch.op()), Column(block.batch.op().d, 1)};
      for (size_t c = 0; c < block.batch.size(); ++c) {
        if (!block.has_expected[c]) continue;  // the device was lost
        recording.batch.append(block.batch, c);
        recording.expected.resize(recording.batch.size());
        recording.expected.set(recording.batch.size() - 1, 0, block.expected.get(c));
      }
      if (recording.batch.size() > 0) recordings->push_back(std::move(recording));
    });
  };
  collect(case_files(context.options.observations), /*takes_models=*/false);
  collect(case_files(context.options.corpus + "/recorded"), /*takes_models=*/false);
  if (recordings->empty()) collect({context.options.corpus + "/published/sanity_table8.cases"}, /*takes_models=*/true);
  std::vector<Step> steps;
  for (const Instruction* i : context.instructions) {
    const std::string unit = "cuda:" + i->name, model = claimed_model(*i, context.arch);
    std::vector<size_t> fitting;
    for (size_t r = 0; r < recordings->size(); ++r)
      if ((*recordings)[r].model == model && bound_or_null(context.registry, unit, (*recordings)[r].batch.op()))
        fitting.push_back(r);
    if (fitting.empty()) continue;
    const auto work = [&context, unit, fitting, recordings](Json& result, Clock::time_point deadline) {
      uint64_t cases = 0;
      result["differs"] = uint64_t{0};
      for (const size_t r : fitting) {
        if (Clock::now() > deadline) throw OutOfTime("after " + std::to_string(cases) + " cases");
        const Recording& recorded = (*recordings)[r];
        result["source"] = recorded.unit;
        const Outcomes got = run_twice(context, unit, recorded.batch, result, "positive control");
        note_differences(context, result, "positive control", unit, recorded.batch.op(), recorded.batch, got.results,
                         recorded.expected, recorded.unit + " gave");
        cases += recorded.batch.size();
        result["cases"] = cases;
      }
    };
    steps.push_back({"positive control", "control", unit, context.scaled(10), work});
  }
  return steps;
}

std::vector<Step> published_steps(Context& context) {
  const auto sets = std::make_shared<std::map<std::string, CaseSet>>();
  visit_blocks(case_files(context.options.corpus + "/published"), [&](const CaseBlock& block) {
    if (block.batch.op().kind != OpKind::dot) return;
    CaseSet& set = (*sets)[to_text(block.batch.op())];
    if (set.seen.empty()) set.batch = Batch(block.batch.op());
    for (size_t c = 0; c < block.batch.size(); ++c) set.add(block.batch, c);
  });
  std::vector<Step> steps;
  for (const Instruction* i : context.instructions) {
    const std::string unit = "cuda:" + i->name, model = claimed_model(*i, context.arch);
    const auto work = [&context, unit, model, sets](Json& result, Clock::time_point deadline) {
      if (!model.empty()) result["model"] = model;
      uint64_t cases = 0;
      for (const auto& [text, set] : *sets) {
        if (Clock::now() > deadline) throw OutOfTime("after " + std::to_string(cases) + " cases");
        if (!bound_or_null(context.registry, unit, set.batch.op())) continue;
        const Outcomes got = run_twice(context, unit, set.batch, result, "published cases");
        context.book.keep_cases("recorded.cases", unit, set.batch, &got);
        cases += set.batch.size();
        result["cases"] = cases;
        const std::unique_ptr<Unit> claimed =
            model.empty() ? nullptr : bound_or_null(context.registry, model, set.batch.op());
        if (!claimed) continue;
        result["differs"] = result.value("differs", uint64_t{0});
        Op op = set.batch.op();
        op.nan = NanPolicy::exact;  // whatever the source compares: a model claims the encodings of NaNs
        const Outcomes expected = claimed->outcomes_of(set.batch);
        note_differences(context, result, "published cases", unit, op, set.batch, got.results, expected.results,
                         model + " gives");
      }
      if (cases == 0) result["why"] = "no published case has its formats";
    };
    steps.push_back({"published cases", "published", unit, context.scaled(10), work});
  }
  return steps;
}

namespace {

/// One input on which published descriptions disagree, with the result that each predicts, for any GPU.
struct Point {
  std::string name;  ///< "D3-H"; "N3, D10" where two open questions have the same input
  Batch batch;
  struct Reading {
    std::string label, overrides;
    uint64_t predicted;
  };
  std::vector<Reading> readings;
};

void add_name(std::string& names, const std::string& name) {
  if ((", " + names + ",").find(", " + name + ",") == std::string::npos) names += (names.empty() ? "" : ", ") + name;
}

std::vector<Point> points_of(const std::vector<std::string>& files) {
  std::vector<Point> points;
  std::map<std::string, size_t> index;
  for (const std::string& file : files) {
    std::vector<std::string> label_of_line = {""};  // by line: the last comment before it that names a point
    std::ifstream text(file);
    for (std::string line, last; std::getline(text, line); label_of_line.push_back(last))
      if (line.starts_with("# D") || line.starts_with("# N")) last = line.substr(2);
    visit_cases(file, 4096, [&](const CaseBlock& block) {
      for (size_t c = 0; c < block.batch.size(); ++c) {
        if (!block.has_expected[c] || block.line[c] > label_of_line.size()) continue;
        const std::string key = to_text(block.batch.op()) + ": " + case_line(block.batch, c);
        const std::string& label = label_of_line[block.line[c] - 1];
        const auto [entry, is_new] = index.try_emplace(key, points.size());
        if (is_new) points.push_back({"", block.batch.part(c), {}});
        Point& point = points[entry->second];
        add_name(point.name, label.substr(0, label.find(' ')));
        point.readings.push_back(
            {label + " (" + block.unit + ")", UnitName(block.unit).settings, block.expected.get(c)});
      }
    });
  }
  return points;
}

/// What the device returns on one point, and which readings predict that.
Json judge(const Context& context, const Point& point, const std::string& model, uint64_t got) {
  const Op& op = point.batch.op();
  std::set<std::string> agree, disagree, agreeing_overrides;
  for (const Point::Reading& reading : point.readings)
    (reading.predicted == got ? agree : disagree).insert(reading.label + " " + to_hex(op.d, reading.predicted));
  std::set<std::string> all_overrides = {""};
  for (const Point::Reading& reading : point.readings) all_overrides.insert(reading.overrides);
  for (const std::string& overrides : all_overrides) {
    if (model.empty()) break;
    const std::unique_ptr<Unit> unit =
        bound_or_null(context.registry, model + (overrides.empty() ? "" : "?" + overrides), op);
    if (!unit) continue;
    const Outcomes predicted = unit->outcomes_of(point.batch);
    if (predicted.results.get(0) == got) agreeing_overrides.insert(overrides.empty() ? "as it is" : "?" + overrides);
  }
  return {{"point", point.name},
          {"case", to_text(op) + ": " + case_line(point.batch, 0)},
          {"got", to_hex(op.d, got)},
          {"agrees", joined(agree, "; ")},
          {"disagrees", joined(disagree, "; ")},
          {"own_agrees", model.empty()                ? "no model"
                         : agreeing_overrides.empty() ? "none"
                                                      : joined(agreeing_overrides, "; ")}};
}

}  // namespace

std::vector<Step> discriminator_steps(Context& context) {
  std::vector<std::string> files;
  for (const std::string& file : case_files(context.options.corpus + "/published"))
    if (fs::path(file).filename().string().starts_with("discriminators")) files.push_back(file);
  const auto points = std::make_shared<std::vector<Point>>(points_of(files));
  std::vector<Step> steps;
  for (const Instruction* i : context.instructions) {
    const std::string unit = "cuda:" + i->name, model = claimed_model(*i, context.arch);
    const auto work = [&context, unit, model, points](Json& result, Clock::time_point deadline) {
      result["rows"] = Json::array();
      std::map<std::string, std::vector<const Point*>> by_op;  // one call of the device for each op
      for (const Point& point : *points)
        if (bound_or_null(context.registry, unit, point.batch.op())) by_op[to_text(point.batch.op())].push_back(&point);
      for (const auto& [text, group] : by_op) {
        if (Clock::now() > deadline) throw OutOfTime("after " + std::to_string(result["rows"].size()) + " points");
        Batch batch(group[0]->batch.op());
        for (const Point* point : group) batch.append(point->batch, 0);
        const Outcomes got = run_twice(context, unit, batch, result, "discriminators");
        context.book.keep_cases("discriminators.cases", unit, batch, &got);
        for (size_t c = 0; c < group.size(); ++c)
          result["rows"].push_back(judge(context, *group[c], model, got.results.get(c)));
      }
      if (by_op.empty()) result["why"] = "no discriminator has its formats";
    };
    steps.push_back({"discriminators", "discriminators", unit, context.scaled(10), work});
  }
  return steps;
}

}  // namespace mmafuzz::survey
