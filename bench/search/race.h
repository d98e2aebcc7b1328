// Runs strategies against mutants and records the cases and time until the results of each mutant and its original
// differ.
#pragma once

#include <functional>

#include "bench/search/catalogue.h"
#include "bench/search/strategy.h"

namespace mmafuzz {

/// One strategy against one mutant from one seed.
struct MutantRun {
  size_t mutant = 0, strategy = 0;  ///< indices in the arguments of race()
  uint64_t seed = 0;
  bool killed = false;  ///< whether a case was found on which the results differ
  uint64_t cases = 0;   ///< up to and including the first such case; else all that were tried
  double seconds = 0;  ///< processor time of search, original and this mutant until then, as if no other mutant had run
};

struct RaceLimits {
  uint64_t cases = 0;  ///< per mutant, strategy and seed; 0: no limit
  double seconds = 0;  ///< of processor time, per mutant, strategy and seed; 0: no limit
  uint64_t seeds = 1;  ///< 1, 2, ..., seeds
  unsigned jobs = 1;   ///< threads
};

/// All runs, in no particular order. `progress` is called with the finished and the total number of searches, from one
/// thread at a time.
std::vector<MutantRun> race(const std::vector<Mutant>& mutants, const std::vector<Strategy>& strategies,
                            const RaceLimits& limits, const std::function<void(size_t, size_t)>& progress);

}  // namespace mmafuzz
