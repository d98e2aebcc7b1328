// A guided search on several threads. What it finds depends on the seed and the number of cases that were done, not on
// the number of threads.
#pragma once

#include <chrono>
#include <functional>

#include "search/comparison.h"

namespace mmafuzz {

/// Cases of a chunk; the last chunk of a search may have fewer.
inline constexpr size_t chunk_cases = 1024;

struct SearchLimits {
  uint64_t seed = 1, cases = 0;
  std::chrono::steady_clock::time_point deadline;
  unsigned threads = 1;
};

/// Searches the op of `comparison`, an op with its units, until all cases are done or the deadline has passed. Chunks
/// run in epochs of 4, 8, ... up to 64: every chunk of an epoch sees what was learned before the epoch. `merge` gets
/// the findings of each chunk in order, `after_epoch` is called after each epoch, both on the calling thread.
void search_in_parallel(const Comparison& comparison, const SearchLimits& limits,
                        const std::function<void(Findings)>& merge, const std::function<void()>& after_epoch);

}  // namespace mmafuzz
