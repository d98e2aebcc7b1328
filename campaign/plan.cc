#include "campaign/plan.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "plan/default_fields.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "plan/unit_alias.h"

namespace mmafuzz {
namespace {

namespace fs = std::filesystem;

/// Seconds of a slice that an engine needs to get to work; in a shorter one it would only start and stop.
constexpr double least_slice[] = {1, 2, 10};
constexpr double greatest_slice = 60;

bool in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string folders = path ? path : "";
  for (size_t begin = 0; begin <= folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    if (access((folders.substr(begin, end - begin) + "/" + program).c_str(), X_OK) == 0) return true;
    begin = end + 1;
  }
  return false;
}

/// Builds of a target share its name; what stands in the file tells which engine runs it. Replayers have neither word.
std::string find_build(const std::vector<std::string>& folders, const std::string& target, Engine engine) {
  const char* word = engine == Engine::afl ? "__AFL_SHM_ID" : "max_total_time";
  for (const std::string& folder : folders) {
    const std::string binary = folder + "/" + target;
    if (fs::is_directory(binary) || access(binary.c_str(), X_OK) != 0) continue;
    std::ifstream file(binary, std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(file), {}};
    if (content.find(word) != std::string::npos) return fs::absolute(binary).lexically_normal().string();
  }
  return "";
}

/// Whether the units can be searched on this op; otherwise why not.
std::string refusal(const FuzzTarget& target, const std::vector<std::string>& units, const Op& op) {
  if (units.empty()) return "no unit evaluates '" + to_text(op) + "'";
  bool any_property = false;
  for (const std::string& name : units) {
    Result<std::unique_ptr<Unit>> unit = registry().bind(name, op);
    if (!unit) return "unit " + name + " declines '" + to_text(op) + "': " + unit.refusal().reason;
    for (const Property* property : properties_of(target))
      any_property |= static_cast<bool>(BoundProperty::bind(*property, **unit, op, registry()));
  }
  if (!target.compares_units() && !any_property)
    return std::string(target.name) + " has no property of '" + to_text(op) + "'";
  return "";
}

std::vector<Op> ops_of(const FuzzTarget& target, const PlanRequest& request) {
  if (request.ops.empty()) return campaign_ops_of(target);
  std::vector<Op> ops;
  for (const std::string& text : request.ops) {
    const Op op = op_from_text(text);
    if (takes(target, op)) ops.push_back(op);
  }
  return ops;
}

constexpr size_t most_own_ops = 6;  ///< of a unit that takes none of the default ops

/// Ops of the models' rows that all named units take, where they take none of the targets' own: what a plugin is for
/// is seldom among those.
std::vector<std::string> ops_of_units(const std::vector<const FuzzTarget*>& targets, const PlanRequest& request) {
  std::vector<std::string> named, ops;
  for (const std::string& unit : request.units)
    if (unit != default_word && !is_glob(unit)) named.push_back(unit);
  if (named.empty() || !request.ops.empty()) return request.ops;
  const auto all_take = [&](const Op& op) {
    return std::all_of(named.begin(), named.end(), [&](const std::string& unit) {
      return static_cast<bool>(registry().bind(unit_of_alias(unit, op), op));
    });
  };
  for (const FuzzTarget* target : targets)
    for (const Op& op : campaign_ops_of(*target))
      if (all_take(op)) return {};
  for (const Op& op : ops_of_models())
    if (ops.size() < most_own_ops && all_take(op)) ops.push_back(to_text(op));
  return ops;
}

bool wants(const std::vector<std::string>& with, Engine engine) {
  return with.empty() || std::find(with.begin(), with.end(), name_of(engine)) != with.end();
}

}  // namespace

const char* name_of(Engine engine) {
  return engine == Engine::batch ? "batch" : engine == Engine::libfuzzer ? "libfuzzer" : "afl";
}

std::string Assignment::field() const {
  if (!op) return target->name;
  std::string text = to_text(*op).substr(3);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ' ' || c == '/'; }, '_');
  return std::string(target->name) + "/" + text;
}

std::string Assignment::name() const {
  std::string text = field() + "." + name_of(engine);
  std::replace(text.begin(), text.end(), '/', '.');
  return text;
}

std::string Assignment::label() const { return op ? op_label(*op) : "-"; }

Plan make_plan(const PlanRequest& asked) {
  Plan plan;
  PlanRequest request = asked;
  std::vector<const FuzzTarget*> targets;
  for (const std::string& glob : request.targets) {
    const size_t before = targets.size();
    std::string known;
    for (const FuzzTarget& target : fuzz_targets()) {
      if (!target.in_campaigns) continue;
      known += std::string(" ") + target.name;
      if (matches_glob(glob, target.name) && std::find(targets.begin(), targets.end(), &target) == targets.end())
        targets.push_back(&target);
    }
    if (targets.size() == before) throw BadInput("no target matches '" + glob + "'; known:" + known);
  }
  for (const std::string& unit : request.units)  // an unknown one is refused with the nearest known
    if (unit != default_word && !is_glob(unit) && !is_alias(unit) && !registry().knows(unit))
      bind_or_fail(unit, default_ops(OpKind::dot).front());
  request.ops = ops_of_units(targets, request);
  std::vector<Assignment> fields;
  std::string reason;
  bool any_op = false, wants_op = false;
  std::vector<Op> all_ops;
  for (const FuzzTarget* target : targets)
    for (const Op& op : ops_of(*target, request)) all_ops.push_back(op);
  if (!all_ops.empty()) check_patterns(registry(), all_ops, request.units);
  for (const FuzzTarget* target : targets) {
    wants_op |= target->has_ops();
    if (!target->has_ops() && request.ops.empty()) fields.push_back({target, {}, Engine::batch, ""});
    for (const Op& op : ops_of(*target, request)) {
      const std::string why = refusal(*target, units_of(request.units, op), op);
      if (why.empty()) fields.push_back({target, op, Engine::batch, ""});
      else if (reason.empty()) reason = why;
      any_op |= why.empty();
    }
  }
  if (fields.empty() || (wants_op && !any_op))
    throw BadInput("nothing to search: " + (reason.empty() ? "the targets have none of the ops" : reason));

  std::string without_build;
  for (const Engine engine : {Engine::batch, Engine::libfuzzer, Engine::afl}) {
    if (!wants(request.with, engine)) continue;
    std::vector<Assignment> shares;
    if (engine == Engine::afl && !in_path("afl-fuzz")) {
      if (!request.with.empty()) throw BadInput("afl-fuzz is not installed (Debian: apt-get install afl++)");
      continue;
    }
    std::map<const FuzzTarget*, std::string> builds;
    if (engine != Engine::batch)
      for (const FuzzTarget* target : targets) builds[target] = find_build(request.folders, target->name, engine);
    for (Assignment share : fields) {
      share.engine = engine;
      share.binary = builds[share.target];
      if (engine == Engine::batch ? share.op.has_value() : !share.binary.empty()) shares.push_back(std::move(share));
    }
    if (shares.empty()) {
      if (engine != Engine::batch) without_build += std::string(without_build.empty() ? "" : " and ") + name_of(engine);
      continue;
    }
    const double needed =
        least_slice[static_cast<int>(engine)] * static_cast<double>(plan.assignments.size() + shares.size());
    if (request.with.empty() && request.worker_seconds > 0 && needed > request.worker_seconds &&
        !plan.assignments.empty()) {
      plan.notes.push_back(
          fmt::format("no time for {} beside the others: it takes {:.0f} s of one worker", name_of(engine), needed));
      break;
    }
    plan.assignments.insert(plan.assignments.end(), shares.begin(), shares.end());
  }
  if (!without_build.empty())
    plan.notes.push_back(
        fmt::format("no {} builds of these targets in {}", without_build, fmt::join(request.folders, ", ")));
  if (plan.assignments.empty())
    throw BadInput("nothing to run: " + (plan.notes.empty() ? "no engine for these targets" : plan.notes.back()));
  return plan;
}

double slice_seconds(double worker_seconds, size_t assignments) {
  if (worker_seconds <= 0) return greatest_slice;
  return std::clamp(worker_seconds / static_cast<double>(assignments), least_slice[0], greatest_slice);
}

std::string own_executable() { return fs::read_symlink("/proc/self/exe").string(); }

std::vector<std::string> default_engine_folders() {
  const fs::path here = fs::path(own_executable()).parent_path();
  return {(here / "fuzz_targets").string(), (here / "../fuzz/fuzz_targets").lexically_normal().string(),
          (here / "../afl/fuzz_targets").lexically_normal().string()};
}

std::string default_knowledge_folder() {
  const fs::path here = fs::path(own_executable()).parent_path();
  for (const char* folder : {"../../corpus/knowledge", "../share/mmafuzz/knowledge"})
    if (fs::is_directory(here / folder)) return (here / folder).lexically_normal().string();
  return "";
}

}  // namespace mmafuzz
