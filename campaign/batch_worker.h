// One batch worker of a campaign: a process that runs the guided search of one op for one target on one thread. With
// `is_alone`, its results depend on op, units, seed, corpus and number of cases only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mmafuzz {

struct WorkerOptions {
  std::string target, op, corpus, segment, status;  ///< op: an op line; the last three: paths (WorkerRun)
  std::vector<std::string> units;
  uint64_t seed = 1, cases = 0;  ///< cases 0: no bound
  uint64_t walked_before = 0;    ///< cases of workers before this one: its walks begin behind theirs
  double seconds = 0;            ///< 0: no bound
  bool is_alone = false;         ///< no other process writes to the corpus, so the worker does not look for new inputs
  bool writes_files = false;     ///< every input also becomes a file, for engines
};

/// Searches until its cases or its time are over, or a signal asks it to end (SIGTERM, SIGINT).
void run_batch_worker(const WorkerOptions& options);

}  // namespace mmafuzz
