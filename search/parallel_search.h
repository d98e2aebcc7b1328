// A guided search on several threads. What it finds depends on seed and number of cases alone, not on the threads.
#pragma once

#include <chrono>
#include <functional>

#include "search/comparison.h"

namespace mmafuzz {

/// Cases of a chunk; the last one of a search may have fewer.
inline constexpr size_t chunk_cases = 1024;

struct SearchLimits {
  uint64_t seed = 1, cases = 0;
  std::chrono::steady_clock::time_point deadline;
  unsigned threads = 1;
};

/// Searches one op until the cases are done or the deadline has passed. Every chunk of an epoch sees what was learned
/// before the epoch; `merge` gets findings in the order of the chunks, `after_epoch` is called between epochs, both on
/// the calling thread.
void search_in_parallel(const Comparison& field, const SearchLimits& limits, const std::function<void(Findings)>& merge,
                        const std::function<void()>& after_epoch);

}  // namespace mmafuzz
