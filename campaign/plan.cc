#include "campaign/plan.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
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
  bool lacks = false;
  for (const std::string& unit : units) {
    const std::optional<UnitOnFormats> row = unit_on_formats(unit);
    if (unit == default_word || (row && row->takes(op))) return false;
    lacks |= row.has_value();
  }
  return lacks;
}

/// Throws BadInput where the user's own rows are for none of the ops, so that they are not left out in silence.
void check_rows(const std::vector<std::string>& units, const std::vector<Op>& ops) {
  std::string wanted;
  for (const std::string& unit : units) {
    const std::optional<UnitOnFormats> row = unit_on_formats(unit);
    if (!row) continue;
    if (std::any_of(ops.begin(), ops.end(), [&](const Op& op) { return row->takes(op); })) return;
    if (wanted.empty()) wanted = to_text(row->op).substr(3);
  }
  if (!wanted.empty()) throw BadInput("no row of --rows is for an op that is searched: give --ops '" + wanted + "'");
}

/// Why the units cannot be searched on this op; empty if they can. Sets `checks_claim` if a unit of this machine is
/// compared with the unit that it claims to equal; of plugins and processes only where units `were_named`.
std::string refusal(const FuzzTarget& target, const std::vector<std::string>& units, const Op& op, bool were_named,
                    bool& checks_claim) {
  if (units.empty()) return "no unit evaluates '" + to_text(op) + "'";
  bool any_property = false;
  for (const std::string& name : units) {
    Result<std::unique_ptr<Unit>> unit = registry().bind(name, op);
    if (!unit) return "unit " + name + " declines '" + to_text(op) + "': " + unit.refusal().reason;
    const Role role = (*unit)->role();
    if (target.compares_units() && is_of_this_machine(role) && (were_named || role != Role::plugin))
      checks_claim |= (*unit)->claim("equals_model") != nullptr;
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

constexpr size_t max_own_ops = 6;  ///< ops for units that take none of the default ops, at most

/// Where the named units, plugins say, take none of the targets' own ops: a few of the models' ops that all take.
std::vector<std::string> ops_of_units(const std::vector<const FuzzTarget*>& targets, const PlanRequest& request) {
  std::vector<std::string> named, ops;
  for (const std::string& unit : request.units)
    if (unit != default_word && !is_glob(unit) && !unit_on_formats(unit)) named.push_back(unit);
  const bool rows = std::any_of(request.units.begin(), request.units.end(),
                                [](const std::string& unit) { return unit_on_formats(unit).has_value(); });
  if ((named.empty() && !rows) || !request.ops.empty()) return request.ops;
  const auto all_take = [&](const Op& op) {
    return !lacks_row(request.units, op) && std::all_of(named.begin(), named.end(), [&](const std::string& unit) {
      return static_cast<bool>(registry().bind(unit, op));
    });
  };
  for (const FuzzTarget* target : targets)
    for (const Op& op : campaign_ops_of(*target))
      if (all_take(op)) return {};
  for (const Op& op : ops_of_models())
    if (ops.size() < max_own_ops && all_take(op)) ops.push_back(to_text(op));
  return ops;
}

bool wants(const std::vector<std::string>& with, Engine engine) {
  return with.empty() || std::find(with.begin(), with.end(), name_of(engine)) != with.end();
}

size_t targets_of(const std::vector<Assignment>& shares) {
  std::set<const FuzzTarget*> targets;
  for (const Assignment& share : shares) targets.insert(share.target);
  return targets.size();
}

/// The fraction of the time that an engine gets: batch searches get as much as three others, because they show more
/// flaws in the same time (docs/fuzzing.md).
double part_of(Engine engine, const std::vector<std::vector<Assignment>>& engines) {
  const auto parts = [](Engine of) { return of == Engine::batch ? 3.0 : 1.0; };
  double sum = 0;
  for (const std::vector<Assignment>& shares : engines) sum += parts(shares.front().engine);
  return parts(engine) / sum;
}

/// Divides an engine's time among its assignments. Where it cannot begin all of them, it drops some, so that each
/// target keeps about the same number.
void share_time(std::vector<Assignment>& shares, double seconds, uint64_t seed) {
  const double least = least_slice(shares.front().engine);
  if (seconds > 0 && shares.front().engine != Engine::batch) {
    const size_t most = std::max(targets_of(shares), static_cast<size_t>(seconds / least));
    std::map<const FuzzTarget*, std::vector<Assignment>> of_target;
    for (Assignment& share : shares) of_target[share.target].push_back(share);
    for (auto& [target, all] : of_target)
      std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(seed % all.size()), all.end());
    std::vector<Assignment> kept;
    for (size_t round = 0; kept.size() < std::min(most, shares.size()); ++round)
      for (const FuzzTarget& target : fuzz_targets())
        if (const auto all = of_target.find(&target);
            all != of_target.end() && round < all->second.size() && kept.size() < most)
          kept.push_back(all->second[round]);
    shares = std::move(kept);
  }
  struct OfOp {
    double targets = 0, weight = 0;
  };
  std::map<std::string, OfOp> ops;
  const auto weight = [](const Assignment& share) { return share.checks_claim && !share.cases ? weight_of_claim : 1; };
  const auto op_of = [&](const Assignment& share) -> OfOp& {
    return ops[share.op ? to_text(*share.op) : share.target->name];
  };
  for (const Assignment& share : shares) {
    OfOp& op = op_of(share);
    ++op.targets;
    op.weight += weight(share);
  }
  double greatest = 0;  // the greatest of the parts below, of which equal ones are 1
  for (Assignment& share : shares) {
    const OfOp& op = op_of(share);
    share.seconds = weight(share) * op.targets / op.weight;
    greatest = std::max(greatest, share.seconds);
  }
  const double part = seconds > 0 ? std::min(seconds / static_cast<double>(shares.size()), greatest_slice / greatest)
                                  : greatest_slice / greatest;
  for (Assignment& share : shares) share.seconds = std::max(least, part * share.seconds);
}

}  // namespace

double least_slice(Engine engine) { return engine == Engine::batch ? 1 : engine == Engine::libfuzzer ? 2 : 10; }

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

bool Plan::with_engine(const std::string& field) const {
  return std::any_of(assignments.begin(), assignments.end(), [&](const Assignment& assignment) {
    return assignment.engine != Engine::batch && assignment.field() == field;
  });
}

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
  for (const std::string& unit : request.units)  // an unknown name is refused with the nearest known one
    if (unit != default_word && !is_glob(unit) && !is_alias(unit) && !unit_on_formats(unit) && !registry().knows(unit))
      bind_or_fail(unit, default_ops(OpKind::dot).front());
  request.ops = ops_of_units(targets, request);
  // Whoever names units or ops wants the time for them: targets that test this program itself are left out.
  const bool asks_for_all =
      request.ops.empty() &&
      (request.units.empty() || std::count(request.units.begin(), request.units.end(), default_word));
  const auto named = [&](const FuzzTarget& target) {
    return std::find(request.targets.begin(), request.targets.end(), target.name) != request.targets.end();
  };
  std::vector<Assignment> fields;
  std::string reason;
  bool any_op = false, wants_op = false;
  std::vector<Op> all_ops;
  for (const FuzzTarget* target : targets)
    for (const Op& op : ops_of(*target, request)) all_ops.push_back(op);
  if (!all_ops.empty()) {
    check_patterns(registry(), all_ops, request.units);
    check_rows(request.units, all_ops);
  }
  for (const FuzzTarget* target : targets) {
    wants_op |= target->has_ops();
    if (!target->has_ops() && (asks_for_all || named(*target)))
      fields.push_back({target, {}, Engine::batch, "", false});
    for (const Op& op : ops_of(*target, request)) {
      bool checks_claim = false;
      const std::string why = lacks_row(request.units, op) ? "no row of the named units is for '" + to_text(op) + "'"
                                                           : refusal(*target, units_of(*target, request.units, op), op,
                                                                     !request.units.empty(), checks_claim);
      if (why.empty()) fields.push_back({target, op, Engine::batch, "", checks_claim});
      else if (reason.empty()) reason = why;
      any_op |= why.empty();
    }
  }
  if (fields.empty() || (wants_op && !any_op))
    throw BadInput("nothing to search: " + (reason.empty() ? "the targets have none of the ops" : reason));

  std::string without_build;
  std::vector<std::vector<Assignment>> engines;
  for (const Engine engine : all_engines) {
    if (!wants(request.with, engine)) continue;
    if (engine == Engine::afl && find_in_path("afl-fuzz").empty()) {
      if (!request.with.empty()) throw BadInput("afl-fuzz is not installed (Debian: apt-get install afl++)");
      continue;
    }
    std::map<const FuzzTarget*, std::string> builds;
    if (engine != Engine::batch)
      for (const FuzzTarget* target : targets) builds[target] = find_build(request.folders, target->name, engine);
    std::vector<Assignment> shares;
    for (Assignment share : fields) {
      share.engine = engine;
      share.binary = builds[share.target];
      share.cases = request.cases;
      if (engine == Engine::batch ? share.op.has_value() : !share.binary.empty()) shares.push_back(std::move(share));
    }
    if (!shares.empty()) engines.push_back(std::move(shares));
    else if (engine != Engine::batch)
      without_build += std::string(without_build.empty() ? "" : " and ") + name_of(engine);
  }
  if (!without_build.empty())
    plan.notes.push_back(
        fmt::format("no {} builds of these targets in {}", without_build, fmt::join(request.folders, ", ")));
  // The last engine needs the longest slices: it is the first to be left out.
  while (request.with.empty() && request.worker_seconds > 0 && engines.size() > 1) {
    const Engine engine = engines.back().front().engine;
    const double needed =
        least_slice(engine) * static_cast<double>(targets_of(engines.back())) / part_of(engine, engines);
    if (needed <= request.worker_seconds) break;
    plan.notes.push_back(
        fmt::format("no time for {}: beside the others it takes {:.0f} s of one worker", name_of(engine), needed));
    engines.pop_back();
  }
  for (std::vector<Assignment>& shares : engines) {
    const size_t all = shares.size();
    share_time(shares, busy * request.worker_seconds * part_of(shares.front().engine, engines), request.seed);
    if (shares.size() < all)
      plan.notes.push_back(fmt::format("{} runs on {} of {} ops: the seed picks them", name_of(shares.front().engine),
                                       shares.size(), all));
    plan.assignments.insert(plan.assignments.end(), shares.begin(), shares.end());
  }
  std::map<std::string, size_t> place;  // assignments without op come first: no batch search does their work
  for (size_t i = 0; i < fields.size(); ++i) place[fields[i].field()] = fields[i].op ? i + 1 : 0;
  std::stable_sort(plan.assignments.begin(), plan.assignments.end(),
                   [&](const Assignment& x, const Assignment& y) { return place[x.field()] < place[y.field()]; });
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
      here.builds += engine == Engine::batch ? target.in_campaigns && target.has_ops()
                                             : !find_build(folders, target.name, engine).empty();
    if (engine == Engine::afl && find_in_path("afl-fuzz").empty()) here.missing = "without afl-fuzz";
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
