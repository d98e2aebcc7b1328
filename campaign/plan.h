// What a campaign runs: targets on ops by engines, and how the time is shared among them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/targets.h"

namespace mmafuzz {

enum class Engine { batch, libfuzzer, afl };
const char* name_of(Engine engine);
/// The seconds that a slice needs: in a shorter one the engine would only start and stop.
double least_slice(Engine engine);

/// One target on one op by one engine, and its part of the campaign.
struct Assignment {
  const FuzzTarget* target = nullptr;
  std::optional<Op> op;  ///< nullopt: the target has no ops
  Engine engine = Engine::batch;
  std::string binary;  ///< the engine's build of the target, beside it AFL++'s mutator; empty for batch
  bool checks_claim =
      false;           ///< compares a unit that is_of_this_machine (core/unit.h) with the unit that it claims to equal
  double seconds = 0;  ///< length of a slice: then its worker is replaced by the next assignment's
  uint64_t cases = 0;  ///< cases to search with --cases; 0: no bound
  double begins_at = 0;  ///< of a shard's part: at which fraction of the whole assignment it begins, from 0 to 1

  std::string corpus_name() const;  ///< "dot_models/dot_a=fp16_...": engines on the same target and op share a corpus
  std::string name() const;         ///< "dot_models.dot_a=fp16_....batch"
  std::string label() const;        ///< the op, for people: "dot.f32.f16.f16.f32"
};

struct PlanRequest {
  std::vector<std::string> targets;              ///< globs of target names
  std::vector<std::string> ops;                  ///< op lines; empty: each target's own
  std::vector<std::string> units;                ///< names and globs; empty: all units with their own arithmetic
  std::vector<std::string> engines;              ///< names; empty: all that are found
  std::vector<std::string> engine_folders = {};  ///< folders in which engines' builds of the targets are sought
  double worker_seconds = 0;                     ///< time in seconds times number of workers; 0: unlimited
  uint64_t cases = 0;                            ///< of each assignment; 0: no bound
  uint64_t seed = 1;  ///< where there is no time for all, it picks the ops that engines run on
};

struct Plan {
  std::vector<Assignment> assignments;  ///< by target and op: those that share a corpus run at the same time
  std::vector<std::string> notes;       ///< for people: what is left out and why

  /// Whether libFuzzer or AFL++, which read a file for each input, works on the corpus.
  bool needs_files(const std::string& corpus_name) const;
};

/// Batch searches get three parts of the time and each other engine one. Targets get equal parts; but of an op on which
/// a unit of this machine claims to equal another unit, the target that compares the two gets most. An engine other
/// than batch runs on as many ops as its part has time for (least_slice), at least one of each target, or not at all.
/// Throws BadInput: an unknown target, an op that no unit evaluates, nothing to do.
Plan make_plan(const PlanRequest& request);

/// What this machine has of an engine.
struct EngineHere {
  std::string name;
  size_t builds = 0;    ///< targets that are built for it in the default folders
  std::string missing;  ///< what the engine needs and this machine lacks; empty: nothing
};
std::vector<EngineHere> engines_here();

/// Folders that hold engines' builds relative to this executable.
std::vector<std::string> default_engine_folders();

/// Folder of known facts (triage/facts/knowledge.h) that belongs to this executable: of the checkout that it was built
/// in, or of its installation. Empty if there is none.
std::string default_knowledge_folder();

}  // namespace mmafuzz
