// What a campaign runs: targets over ops by engines, and how the time is shared among them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/targets.h"

namespace mmafuzz {

enum class Engine { batch, libfuzzer, afl };
const char* name_of(Engine engine);

/// One share of the campaign.
struct Assignment {
  const FuzzTarget* target = nullptr;
  std::optional<Op> op;  ///< none: the target has no ops
  Engine engine = Engine::batch;
  std::string binary;  ///< of the engine; for AFL++ its mutator stands beside it

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
};

struct Plan {
  std::vector<Assignment> assignments;  ///< batch searches first: they are the fastest
  std::vector<std::string> notes;       ///< for people: what is left out and why
};

/// Throws BadInput: an unknown target, an op that no unit evaluates, nothing to do.
Plan make_plan(const PlanRequest& request);

/// Seconds until a worker makes place for the next assignment.
double slice_seconds(double worker_seconds, size_t assignments);

/// Folders that hold engines' builds relative to this executable.
std::vector<std::string> default_engine_folders();

/// Folder of known facts (triage/facts/knowledge.h) that belongs to this executable: of the checkout that it was built
/// in, or of its installation. Empty if there is none.
std::string default_knowledge_folder();

/// This executable's path.
std::string own_executable();

}  // namespace mmafuzz
