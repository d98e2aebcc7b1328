// How a worker of each engine is started: its command line, environment and limits.
#pragma once

#include "campaign/plan.h"
#include "campaign/process.h"
#include "campaign/state.h"

namespace mmafuzz {

/// One run of an assignment, and its files in the campaign's folder.
struct WorkerRun {
  const Assignment* assignment = nullptr;
  std::string id;      ///< unique among running workers; the next run of the assignment reuses it
  std::string folder;  ///< the campaign's
  uint64_t seed = 1;
  double seconds = 0;          ///< 0: no bound
  bool writes_files = false;   ///< an engine other than batch works on the same corpus, and reads files
  uint64_t walked_before = 0;  ///< AssignmentProgress::walked when it began
  /// Of a shard: a dot and a name that no other process has; else empty. A host that was cut off may still write when
  /// another has taken over, and appending to one file from two hosts is not safe on NFS.
  std::string writer = {};

  std::string corpus() const { return folder + "/corpus/" + assignment->corpus_name(); }
  std::string segment() const { return folder + "/segments/" + id + writer + ".cases"; }
  std::string status() const { return folder + "/workers/" + id + ".status"; }
  std::string log() const { return folder + "/workers/" + id + ".log"; }
  std::string afl_output() const { return folder + "/afl/" + id; }
};

/// Prepares folders (an engine needs an input to begin with) and returns what to execute.
ProcessSpec worker_process(const WorkerRun& run, const CampaignSettings& settings);

/// After an AFL++ run: copies the inputs of its queue to the shared corpus and its crashes to the artifacts. Returns
/// the number of crashes that were not there before. Other engines write to the shared corpus themselves.
size_t collect_afl(const WorkerRun& run);

/// What a shell would need to start the same worker.
std::string command_text(const ProcessSpec& spec);

}  // namespace mmafuzz
