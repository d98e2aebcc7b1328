// What a campaign runs: targets over ops by engines, and how the time is shared among them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/targets.h"

namespace mmafuzz {

enum class Engine { batch, libfuzzer, afl };
const char* name_of(Engine engine);
/// Seconds of a slice that an engine needs to get to work; in a shorter one it would only start and stop.
double least_slice(Engine engine);

/// One share of the campaign.
struct Assignment {
  const FuzzTarget* target = nullptr;
  std::optional<Op> op;  ///< none: the target has no ops
  Engine engine = Engine::batch;
  std::string binary;         ///< of the engine; for AFL++ its mutator stands beside it
  bool checks_claim = false;  ///< compares a unit of this machine with what it claims to equal
  double seconds = 0;         ///< until its worker makes place for the next assignment
  uint64_t cases = 0;         ///< of a campaign with --cases, how many
  double place = 0;           ///< of a shard's part: where in the whole assignment it begins, from 0 to 1

  std::string field() const;  ///< "dot_models/dot_a=fp16_...": names the corpus that engines share
  std::string name() const;   ///< "dot_models.dot_a=fp16_....batch"
  std::string label() const;  ///< of the op, for people: "dot.f32.f16.f16.f32"
};

struct PlanRequest {
  std::vector<std::string> targets;  ///< globs
  std::vector<std::string> ops;      ///< op lines; empty: each target's own
  std::vector<std::string> units;    ///< names and globs; empty: all units with their own arithmetic
  std::vector<std::string> with;     ///< names of engines; empty: all that are found
  std::vector<std::string> folders;  ///< where engines' builds of the targets are
  double worker_seconds = 0;         ///< time times jobs; 0: unlimited
  uint64_t cases = 0;                ///< of each assignment; 0: no bound
  uint64_t seed = 1;                 ///< where there is no time for all, it picks the ops that engines run on
};

struct Plan {
  std::vector<Assignment> assignments;  ///< by target and op: what shares a corpus runs at the same time
  std::vector<std::string> notes;       ///< for people: what is left out and why

  /// Whether an engine, which keeps a file for each input, works on the field.
  bool with_engine(const std::string& field) const;
};

/// Batch searches get three parts of the time and each engine one; targets get equal parts; of an op that a unit of
/// this machine claims to compute as another does, the target that holds it to that gets most. An engine needs some
/// seconds to get to work: it runs on as many ops as its part has time for, at least one of each target, or not at all.
/// Throws BadInput: an unknown target, an op that no unit evaluates, nothing to do.
Plan make_plan(const PlanRequest& request);

/// An engine as this machine has it.
struct EngineHere {
  std::string name;
  size_t builds = 0;    ///< targets that are built for it, beside this executable
  std::string missing;  ///< what the engine needs and is not here
};
std::vector<EngineHere> engines_here();

/// Folders that hold engines' builds relative to this executable.
std::vector<std::string> default_engine_folders();

/// Folder of known facts (triage/facts/knowledge.h) that belongs to this executable: of the checkout that it was built
/// in, or of its installation. Empty if there is none.
std::string default_knowledge_folder();

}  // namespace mmafuzz
