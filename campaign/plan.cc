#include "campaign/plan.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "core/child_process.h"
#include "core/text.h"
#include "plan/corpus_folder.h"
#include "plan/default_fields.h"
#include "plan/named_rows.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "plan/unit_alias.h"

namespace mmafuzz {
namespace {

namespace fs = std::filesystem;

constexpr Engine all_engines[] = {Engine::batch, Engine::libfuzzer, Engine::afl};

constexpr double greatest_slice = 60;  ///< seconds
constexpr double weight_of_claim = 4;  ///< of a target that checks a claim; other targets on the op have 1
constexpr double busy = 0.9;  ///< share of the time that is planned; the rest starts workers or begins the next round

/// The program that an engine runs for a target (fuzz_targets/CMakeLists.txt); empty if it is in none of the folders.
std::string find_build(const std::vector<std::string>& folders, const std::string& target, Engine engine) {
  for (const std::string& folder : folders) {
    const std::string binary = folder + "/" + target + "_" + name_of(engine);
    if (access(binary.c_str(), X_OK) == 0) return fs::absolute(binary).lexically_normal().string();
  }
  return "";
}

/// Whether `units` names rows of the user's own and none is for this op. With the default units, such rows only join.
bool lacks_row(const std::vector<std::string>& units, const Op& op) {
  bool has_rows = false;
  for (const std::string& unit : units) {
    const std::optional<UnitOnFormats> row = unit_on_formats(unit);
    if (unit == default_word || (row && row->takes(op))) return false;
    has_rows |= row.has_value();
  }
  return has_rows;
}

/// Throws BadInput where the user's own rows are for none of the ops, so that they are not left out in silence.
void check_rows(const std::vector<std::string>& units, const std::vector<Op>& ops) {
  std::string op_of_row;
  for (const std::string& unit : units) {
    const std::optional<UnitOnFormats> row = unit_on_formats(unit);
    if (!row) continue;
    if (std::any_of(ops.begin(), ops.end(), [&](const Op& op) { return row->takes(op); })) return;
    if (op_of_row.empty()) op_of_row = op_words(row->op);
  }
  if (!op_of_row.empty())
    throw BadInput("no row of --rows is for an op that is searched: give --ops '" + op_of_row + "'");
}

/// Why the units cannot be searched on this op; empty if they can. Sets `checks_claim` if a unit of this machine is
/// compared with the unit that it claims to equal; of plugins and processes only where units `were_named`.
std::string refusal(const FuzzTarget& target, const std::vector<std::string>& units, const Op& op, bool were_named,
                    bool& checks_claim) {
  if (units.empty()) return "no unit evaluates '" + to_text(op) + "'";
  bool has_property = false;
  for (const std::string& name : units) {
    Result<std::unique_ptr<Unit>> unit = registry().bind(name, op);
    if (!unit) return "unit " + name + " declines '" + to_text(op) + "': " + unit.refusal().reason;
    const Role role = (*unit)->role();
    if (target.checks_claims(op) && is_of_this_machine(role) && (were_named || role != Role::plugin))
      checks_claim |= (*unit)->claim("equals_model") != nullptr;
    for (const Property* property : properties_of(target))
      has_property |= static_cast<bool>(BoundProperty::bind(*property, **unit, op, registry()));
  }
  if (!target.compares_units() && !has_property)
    return std::string(target.name) + " has no property of '" + to_text(op) + "'";
  return "";
}

bool is_named(const FuzzTarget& target, const PlanRequest& request) {
  return std::any_of(request.targets.begin(), request.targets.end(),
                     [&](const std::string& glob) { return glob != "*" && matches_glob(glob, target.name); });
}

std::vector<Op> ops_of(const FuzzTarget& target, const PlanRequest& request) {
  if (request.ops.empty() && target.in_campaigns == InCampaigns::asked && !is_named(target, request)) return {};
  if (request.ops.empty()) return campaign_ops_of(target);
  std::vector<Op> ops;
  for (const std::string& text : request.ops) {
    const Op op = op_from_text(text);
    if (takes(target, op)) ops.push_back(op);
  }
  return ops;
}

constexpr size_t max_own_ops = 6;  ///< ops for units that take none of the default ops, at most

/// Where the named units, plugins say, take none of the targets' own ops: a few ops of models or blocks that all take.
std::vector<std::string> ops_of_units(const std::vector<const FuzzTarget*>& targets, const PlanRequest& request) {
  std::vector<std::string> names, ops;
  for (const std::string& unit : request.units)
    if (unit != default_word && !is_glob(unit) && !unit_on_formats(unit)) names.push_back(unit);
  const bool has_rows = std::any_of(request.units.begin(), request.units.end(),
                                    [](const std::string& unit) { return unit_on_formats(unit).has_value(); });
  if ((names.empty() && !has_rows) || !request.ops.empty()) return request.ops;
  const auto all_take = [&](const Op& op) {
    return !lacks_row(request.units, op) && std::all_of(names.begin(), names.end(), [&](const std::string& unit) {
      return static_cast<bool>(registry().bind(unit, op));
    });
  };
  for (const FuzzTarget* target : targets)
    for (const Op& op : ops_of(*target, request))
      if (all_take(op)) return {};
  std::vector<Op> others = ops_of_models();
  for (const FuzzTarget* target : targets)
    for (const Op& op : campaign_ops_of(*target)) others.push_back(op);
  for (const Op& op : others)
    if (ops.size() < max_own_ops && all_take(op)) ops.push_back(to_text(op));
  return ops;
}

bool wants(const PlanRequest& request, Engine engine) {
  return request.engines.empty() ||
         std::find(request.engines.begin(), request.engines.end(), name_of(engine)) != request.engines.end();
}

bool is_installed(Engine engine) { return engine != Engine::afl || !find_in_path("afl-fuzz").empty(); }

/// The assignments of one engine; at least one.
using EngineAssignments = std::vector<Assignment>;

Engine engine_of(const EngineAssignments& assignments) { return assignments.front().engine; }

size_t count_targets(const EngineAssignments& assignments) {
  std::set<const FuzzTarget*> targets;
  for (const Assignment& assignment : assignments) targets.insert(assignment.target);
  return targets.size();
}

/// The fraction of the time that an engine gets: batch searches get as much as three others, because they show more
/// flaws in the same time (docs/fuzzing.md).
double fraction_of_time(Engine engine, const std::vector<EngineAssignments>& engines) {
  const auto weight = [](Engine e) { return e == Engine::batch ? 3.0 : 1.0; };
  double sum = 0;
  for (const EngineAssignments& assignments : engines) sum += weight(engine_of(assignments));
  return weight(engine) / sum;
}

/// Keeps at most `count` assignments, about the same number of each target. `seed` picks them.
void keep_some(EngineAssignments& assignments, size_t count, uint64_t seed) {
  count = std::min(count, assignments.size());
  std::map<const FuzzTarget*, EngineAssignments> by_target;
  for (const Assignment& assignment : assignments) by_target[assignment.target].push_back(assignment);
  for (auto& [target, list] : by_target)
    std::rotate(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(seed % list.size()), list.end());
  EngineAssignments kept;
  for (size_t round = 0; kept.size() < count; ++round)
    for (const FuzzTarget& target : fuzz_targets())
      if (const auto found = by_target.find(&target);
          found != by_target.end() && round < found->second.size() && kept.size() < count)
        kept.push_back(found->second[round]);
  assignments = std::move(kept);
}

/// Divides an engine's time among its assignments, in slices of at most greatest_slice. Of those of one op, one that
/// checks a claim gets more.
void share_time(EngineAssignments& assignments, double seconds) {
  struct OfOp {
    double targets = 0, weights = 0;  // number of its targets, and sum of their weights
  };
  std::map<std::string, OfOp> ops;
  const auto weight = [](const Assignment& a) { return a.checks_claim && !a.cases ? weight_of_claim : 1; };
  const auto op_of = [](const Assignment& a) { return a.op ? to_text(*a.op) : std::string(a.target->name); };
  for (const Assignment& assignment : assignments) {
    OfOp& of_op = ops[op_of(assignment)];
    ++of_op.targets;
    of_op.weights += weight(assignment);
  }
  double greatest = 0;  // of the relative lengths of the slices, of which equal ones are 1
  for (Assignment& assignment : assignments) {
    const OfOp& of_op = ops[op_of(assignment)];
    assignment.seconds = weight(assignment) * of_op.targets / of_op.weights;
    greatest = std::max(greatest, assignment.seconds);
  }
  double unit = greatest_slice / greatest;
  if (seconds > 0) unit = std::min(seconds / static_cast<double>(assignments.size()), unit);
  const double least = least_slice(engine_of(assignments));
  for (Assignment& assignment : assignments) assignment.seconds = std::max(least, unit * assignment.seconds);
}

/// The targets of campaigns that match globs. Throws BadInput where a glob matches none that an earlier one did not.
std::vector<const FuzzTarget*> targets_matching(const std::vector<std::string>& globs) {
  std::vector<const FuzzTarget*> targets;
  for (const std::string& glob : globs) {
    const size_t before = targets.size();
    std::string known;
    for (const FuzzTarget& target : fuzz_targets()) {
      if (target.in_campaigns == InCampaigns::never) continue;
      known += std::string(" ") + target.name;
      if (matches_glob(glob, target.name) && std::find(targets.begin(), targets.end(), &target) == targets.end())
        targets.push_back(&target);
    }
    if (targets.size() == before) throw BadInput("no target matches '" + glob + "'; known:" + known);
  }
  return targets;
}

/// What is searched, by targets and ops: assignments without an engine. Throws BadInput where that is nothing.
std::vector<Assignment> fields_of(const std::vector<const FuzzTarget*>& targets, const PlanRequest& request) {
  // Whoever names units or ops wants the time for them: targets that test this program itself are left out.
  const bool asks_for_all =
      request.ops.empty() &&
      (request.units.empty() || std::count(request.units.begin(), request.units.end(), default_word));
  std::vector<Op> all_ops;
  for (const FuzzTarget* target : targets)
    for (const Op& op : ops_of(*target, request)) all_ops.push_back(op);
  if (!all_ops.empty()) {
    check_patterns(registry(), all_ops, request.units);
    check_rows(request.units, all_ops);
  }
  std::vector<Assignment> fields;
  std::string reason;
  bool has_op = false, wants_op = false;
  for (const FuzzTarget* target : targets) {
    wants_op |= target->has_ops();
    if (!target->has_ops() && (asks_for_all || is_named(*target, request)))
      fields.push_back({.target = target, .op = {}, .binary = ""});
    for (const Op& op : ops_of(*target, request)) {
      bool checks_claim = false;
      const std::string why = lacks_row(request.units, op) ? "no row of the named units is for '" + to_text(op) + "'"
                                                           : refusal(*target, units_of(*target, request.units, op), op,
                                                                     !request.units.empty(), checks_claim);
      if (why.empty()) fields.push_back({.target = target, .op = op, .binary = "", .checks_claim = checks_claim});
      else if (reason.empty()) reason = why;
      has_op |= why.empty();
    }
  }
  if (fields.empty() || (wants_op && !has_op))
    throw BadInput("nothing to search: " + (reason.empty() ? "the targets have none of the ops" : reason));
  return fields;
}

/// The fields on each engine that is wanted and here. A note says which engines have no builds.
std::vector<EngineAssignments> assignments_of_engines(const std::vector<Assignment>& fields, const PlanRequest& request,
                                                      std::vector<std::string>& notes) {
  std::string without_build;
  std::vector<EngineAssignments> engines;
  for (const Engine engine : all_engines) {
    if (!wants(request, engine)) continue;
    if (!is_installed(engine)) {
      if (!request.engines.empty()) throw BadInput("afl-fuzz is not installed (Debian: apt-get install afl++)");
      continue;
    }
    EngineAssignments assignments;
    for (Assignment assignment : fields) {
      assignment.engine = engine;
      if (engine != Engine::batch)
        assignment.binary = find_build(request.engine_folders, assignment.target->name, engine);
      assignment.cases = request.cases;
      if (engine == Engine::batch ? assignment.op.has_value() : !assignment.binary.empty())
        assignments.push_back(std::move(assignment));
    }
    if (!assignments.empty()) engines.push_back(std::move(assignments));
    else if (engine != Engine::batch)
      without_build += std::string(without_build.empty() ? "" : " and ") + name_of(engine);
  }
  if (!without_build.empty())
    notes.push_back(
        fmt::format("no {} builds of these targets in {}", without_build, joined(request.engine_folders, ", ")));
  return engines;
}

}  // namespace

double least_slice(Engine engine) { return engine == Engine::batch ? 1 : engine == Engine::libfuzzer ? 2 : 10; }

const char* name_of(Engine engine) {
  return engine == Engine::batch ? "batch" : engine == Engine::libfuzzer ? "libfuzzer" : "afl";
}

std::string Assignment::corpus_name() const {
  if (!op) return target->name;
  std::string text = op_words(*op);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ' ' || c == '/'; }, '_');
  return std::string(target->name) + "/" + text;
}

std::string Assignment::name() const {
  std::string text = corpus_name() + "." + name_of(engine);
  std::replace(text.begin(), text.end(), '/', '.');
  return text;
}

std::string Assignment::label() const { return op ? op_label(*op) : "-"; }

bool Plan::needs_files(const std::string& corpus_name) const {
  return std::any_of(assignments.begin(), assignments.end(), [&](const Assignment& assignment) {
    return assignment.engine != Engine::batch && assignment.corpus_name() == corpus_name;
  });
}

Plan make_plan(const PlanRequest& asked) {
  PlanRequest request = asked;
  const std::vector<const FuzzTarget*> targets = targets_matching(request.targets);
  for (const std::string& unit : request.units)  // an unknown name is refused with the nearest known one
    if (unit != default_word && !is_glob(unit) && !is_alias(unit) && !unit_on_formats(unit) && !registry().knows(unit))
      bind_or_fail(unit, default_ops(OpKind::dot).front());
  request.ops = ops_of_units(targets, request);
  const std::vector<Assignment> fields = fields_of(targets, request);
  Plan plan;
  std::vector<EngineAssignments> engines = assignments_of_engines(fields, request, plan.notes);
  // The last engine needs the longest slices: it is the first to be left out.
  while (request.engines.empty() && request.worker_seconds > 0 && engines.size() > 1) {
    const Engine engine = engine_of(engines.back());
    const double needed =
        least_slice(engine) * static_cast<double>(count_targets(engines.back())) / fraction_of_time(engine, engines);
    if (needed <= request.worker_seconds) break;
    plan.notes.push_back(
        fmt::format("no time for {}: beside the others it takes {:.0f} s of one worker", name_of(engine), needed));
    engines.pop_back();
  }
  for (EngineAssignments& assignments : engines) {
    const Engine engine = engine_of(assignments);
    const double seconds = busy * request.worker_seconds * fraction_of_time(engine, engines);
    const size_t all = assignments.size();
    if (seconds > 0 && engine != Engine::batch)
      keep_some(assignments, std::max(count_targets(assignments), static_cast<size_t>(seconds / least_slice(engine))),
                request.seed);
    if (assignments.size() < all)
      plan.notes.push_back(
          fmt::format("{} runs on {} of {} ops: the seed picks them", name_of(engine), assignments.size(), all));
    share_time(assignments, seconds);
    plan.assignments.insert(plan.assignments.end(), assignments.begin(), assignments.end());
  }
  std::map<std::string, size_t> place;  // assignments without op come first: no batch search does their work
  for (size_t i = 0; i < fields.size(); ++i) place[fields[i].corpus_name()] = fields[i].op ? i + 1 : 0;
  std::stable_sort(plan.assignments.begin(), plan.assignments.end(), [&](const Assignment& x, const Assignment& y) {
    return place[x.corpus_name()] < place[y.corpus_name()];
  });
  if (plan.assignments.empty())
    throw BadInput("nothing to run: " + (plan.notes.empty() ? "no engine for these targets" : plan.notes.back()));
  return plan;
}

std::vector<EngineHere> engines_here() {
  std::vector<EngineHere> all;
  const std::vector<std::string> folders = default_engine_folders();
  for (const Engine engine : all_engines) {
    EngineHere here{name_of(engine), 0, ""};
    for (const FuzzTarget& target : fuzz_targets())
      here.builds += engine == Engine::batch ? target.in_campaigns != InCampaigns::never && target.has_ops()
                                             : !find_build(folders, target.name, engine).empty();
    if (!is_installed(engine)) here.missing = "without afl-fuzz";
    all.push_back(std::move(here));
  }
  return all;
}

std::vector<std::string> default_engine_folders() {
  const fs::path here = fs::path(own_executable()).parent_path();
  std::vector<std::string> folders;
  for (const char* folder : {"fuzz_targets", "../clang/fuzz_targets", MMAFUZZ_ENGINES})
    folders.push_back((here / folder).lexically_normal().string());
  return folders;
}

std::string default_knowledge_folder() {
  const std::string corpus = default_corpus_folder();
  return corpus.empty() ? "" : corpus + "/knowledge";
}

}  // namespace mmafuzz
