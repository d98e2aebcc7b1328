// Steps that run known cases on the device: recorded results, discriminators (cases on which published descriptions
// disagree), published vectors.

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "core/case_text.h"
#include "core/property.h"
#include "core/text.h"
#include "oracles/models/model_rows.h"
#include "survey/survey.h"

namespace mmafuzz::survey {
namespace {

namespace fs = std::filesystem;

/// Case files of a folder and its subfolders, sorted.
std::vector<std::string> case_files(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.ends_with(".cases") || name.ends_with(".cases.gz")) files.push_back(at->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void visit_blocks(const std::vector<std::string>& files, const std::function<void(const CaseBlock&)>& visit) {
  for (const std::string& file : files) visit_cases(file, 4096, visit);
}

std::string model_of(const Context& context, const Instruction& i) { return claimed_model(i, context.arch); }

/// The unit `name` of an instruction on an op with another k; nullptr where it does not take that.
std::unique_ptr<Unit> bound(const Context& context, const std::string& name, Op op, const Instruction& i) {
  op.nan = i.op.nan;
  Result<std::unique_ptr<Unit>> unit = context.registry.bind(name, op);
  return unit ? std::move(*unit) : nullptr;
}

std::string hex(const Op& op, const Column& column, size_t index) { return to_hex(op.d, column.get(index, 0)); }

/// Runs a batch on the device twice, at different positions in the tiles; counts results that depend on the position or
/// the time. Returns the first run.
Outcomes run_twice(Context& context, const std::string& name, const Batch& batch, const Instruction& i, Json& result,
                   const std::string& step) {
  const std::unique_ptr<Unit> unit = bound(context, name, batch.op(), i),
                              elsewhere = bound(context, name + "?placement=1", batch.op(), i);
  Outcomes first, second;
  run_or_lose(context, *unit, batch, first);
  run_or_lose(context, *elsewhere, batch, second);
  uint64_t unstable = 0;
  for (size_t c = 0; c < batch.size(); ++c) {
    if (first.results.get(c) == second.results.get(c)) continue;
    if (unstable++ == 0 && result.value("unstable", 0) == 0)
      context.book.find("unstable", step, name,
                        "the second answer differs, at another place of the tile: " + to_text(batch.op()) + ": " +
                            case_line(batch, c) + ": " + hex(batch.op(), first.results, c) + ", then " +
                            hex(batch.op(), second.results, c));
  }
  result["unstable"] = result.value("unstable", uint64_t{0}) + unstable;
  return first;
}

/// Counts results that differ from the expected ones under the op's NaN policy; `by` names the source of these.
void note_differences(Context& context, Json& result, const std::string& step, const std::string& unit, const Op& op,
                      const Batch& batch, const Column& got, const Column& expected, const std::string& by) {
  for (size_t c = 0; c < batch.size(); ++c) {
    if (same_result(op, got.get(c), expected.get(c))) continue;
    const uint64_t n = result.value("differs", uint64_t{0}) + 1;
    result["differs"] = n;
    if (n > 5) continue;
    const std::string text = to_text(batch.op()) + ": " + case_line(batch, c) + ": " + hex(batch.op(), got, c) + ", " +
                             by + " " + hex(batch.op(), expected, c);
    result["first"].push_back(text);
    if (n == 1) context.book.find("divergence", step, unit, text);
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
  const auto collect = [&](const std::vector<std::string>& files, bool models) {
    visit_blocks(files, [&](const CaseBlock& block) {
      if (block.batch.op().kind != OpKind::dot) return;
      std::string model;
      if (const Result<std::string> known = model_of_provenance(block.unit)) model = *known;
      const UnitName unit(block.unit);
      if (models && unit.backend == "model" && unit.settings.empty()) model = block.unit;
      if (!model.starts_with("model:" + context.family + "/")) return;
      recordings->push_back({block.unit, model, block.batch, block.expected});
    });
  };
  collect(case_files(context.options.observations), false);
  collect(case_files(context.options.corpus + "/recorded"), false);
  if (recordings->empty()) collect({context.options.corpus + "/published/sanity_table8.cases"}, true);
  std::vector<Step> steps;
  for (const Instruction* i : context.units) {
    std::vector<size_t> mine;
    for (size_t r = 0; r < recordings->size(); ++r)
      if ((*recordings)[r].model == model_of(context, *i) &&
          bound(context, "cuda:" + i->name, (*recordings)[r].batch.op(), *i))
        mine.push_back(r);
    if (mine.empty()) continue;
    const auto work = [&context, i, mine, recordings](Json& result, Clock::time_point deadline) {
      const std::string unit = "cuda:" + i->name;
      uint64_t cases = 0;
      result["differs"] = uint64_t{0};
      for (const size_t r : mine) {
        if (Clock::now() > deadline) throw OutOfTime("after " + std::to_string(cases) + " cases");
        const Recording& recorded = (*recordings)[r];
        result["source"] = recorded.unit;
        const Outcomes got = run_twice(context, unit, recorded.batch, *i, result, "positive control");
        note_differences(context, result, "positive control", unit, recorded.batch.op(), recorded.batch, got.results,
                         recorded.expected, recorded.unit + " gave");
        cases += recorded.batch.size();
        result["cases"] = cases;
      }
    };
    steps.push_back({"positive control", "control", "cuda:" + i->name, context.scaled(10), work});
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
  for (const Instruction* i : context.units) {
    const auto work = [&context, i, sets](Json& result, Clock::time_point deadline) {
      const std::string unit = "cuda:" + i->name, model = model_of(context, *i);
      if (!model.empty()) result["model"] = model;
      uint64_t cases = 0;
      for (const auto& [text, set] : *sets) {
        if (Clock::now() > deadline) throw OutOfTime("after " + std::to_string(cases) + " cases");
        if (!bound(context, unit, set.batch.op(), *i)) continue;
        const Outcomes got = run_twice(context, unit, set.batch, *i, result, "published cases");
        context.book.keep("recorded.cases", unit, set.batch, &got);
        cases += set.batch.size();
        result["cases"] = cases;
        if (model.empty()) continue;
        result["differs"] = result.value("differs", uint64_t{0});
        Op op = set.batch.op();
        op.nan = i->op.nan;
        // A k that is padded makes another dot of a chain of operations: a last -0 becomes +0.
        if (op.k % i->op.k != 0 && i->op.nan == NanPolicy::any) continue;
        Outcomes expected;
        (*context.registry.bind(model, set.batch.op()))->run(set.batch, expected);
        note_differences(context, result, "published cases", unit, op, set.batch, got.results, expected.results,
                         model + " gives");
      }
      if (cases == 0) result["why"] = "no published case has its formats";
    };
    steps.push_back({"published cases", "published", "cuda:" + i->name, context.scaled(10), work});
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
        const auto [at, fresh] = index.try_emplace(key, points.size());
        if (fresh) {
          Point point;
          point.batch = block.batch.part(c);
          points.push_back(std::move(point));
        }
        add_name(points[at->second].name, label.substr(0, label.find(' ')));
        points[at->second].readings.push_back(
            {label + " (" + block.unit + ")", UnitName(block.unit).settings, block.expected.get(c)});
      }
    });
  }
  return points;
}

/// What the device returns on one point, and which readings predict that.
Json judge(const Context& context, const Point& point, const std::string& model, uint64_t got) {
  const Op& op = point.batch.op();
  std::set<std::string> agree, disagree, own;
  for (const Point::Reading& reading : point.readings)
    (reading.predicted == got ? agree : disagree).insert(reading.label + " " + to_hex(op.d, reading.predicted));
  std::set<std::string> switches = {""};
  for (const Point::Reading& reading : point.readings) switches.insert(reading.overrides);
  for (const std::string& overrides : switches) {
    if (model.empty()) break;
    const Result<std::unique_ptr<Unit>> unit =
        context.registry.bind(model + (overrides.empty() ? "" : "?" + overrides), op);
    if (!unit) continue;
    Outcomes predicted;
    (*unit)->run(point.batch, predicted);
    if (predicted.results.get(0) == got) own.insert(overrides.empty() ? "as it is" : "?" + overrides);
  }
  return {{"point", point.name},
          {"case", to_text(op) + ": " + case_line(point.batch, 0)},
          {"got", to_hex(op.d, got)},
          {"agrees", joined(agree, "; ")},
          {"disagrees", joined(disagree, "; ")},
          {"own_agrees", model.empty() ? "no model"
                         : own.empty() ? "none"
                                       : joined(own, "; ")}};
}

}  // namespace

std::vector<Step> discriminator_steps(Context& context) {
  std::vector<std::string> files;
  for (const std::string& file : case_files(context.options.corpus + "/published"))
    if (fs::path(file).filename().string().starts_with("discriminators")) files.push_back(file);
  const auto points = std::make_shared<std::vector<Point>>(points_of(files));
  std::vector<Step> steps;
  for (const Instruction* i : context.units) {
    const auto work = [&context, i, points](Json& result, Clock::time_point deadline) {
      const std::string unit = "cuda:" + i->name, model = model_of(context, *i);
      result["rows"] = Json::array();
      std::map<std::string, std::vector<const Point*>> by_op;  // one call of the device for each op
      for (const Point& point : *points)
        if (bound(context, unit, point.batch.op(), *i)) by_op[to_text(point.batch.op())].push_back(&point);
      for (const auto& [text, group] : by_op) {
        if (Clock::now() > deadline) throw OutOfTime("after " + std::to_string(result["rows"].size()) + " points");
        Batch batch(group[0]->batch.op());
        for (const Point* point : group) batch.append(point->batch, 0);
        const Outcomes got = run_twice(context, unit, batch, *i, result, "discriminators");
        context.book.keep("discriminators.cases", unit, batch, &got);
        for (size_t c = 0; c < group.size(); ++c)
          result["rows"].push_back(judge(context, *group[c], model, got.results.get(c)));
      }
      if (by_op.empty()) result["why"] = "no discriminator has its formats";
    };
    steps.push_back({"discriminators", "discriminators", "cuda:" + i->name, context.scaled(10), work});
  }
  return steps;
}

}  // namespace mmafuzz::survey
