// One batch worker of a campaign, a process of its own: guided search of one op for one target, single-threaded. What
// it does depends on op, units, seed, corpus and number of cases alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mmafuzz {

struct WorkerOptions {
  std::string target, op, corpus, segment, status;
  std::vector<std::string> units;
  uint64_t seed = 1, cases = 0;
  uint64_t earlier = 0;  ///< cases of workers before this one: sweeps go on behind them
  double time = 0;
  bool alone = false;  ///< no other process writes to the corpus, so the worker does not look for new inputs
  bool files = false;  ///< engines read the corpus too
};

/// Searches until its cases or its time are over, or a signal asks it to end (SIGTERM, SIGINT).
void run_batch_worker(const WorkerOptions& options);

}  // namespace mmafuzz
