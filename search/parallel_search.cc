#include "search/parallel_search.h"

#include <algorithm>

#include "core/parallel.h"
#include "search/focuses.h"

namespace mmafuzz {
namespace {

constexpr uint64_t greatest_epoch = 64;  ///< chunks, at most

struct Chunk {
  Findings findings;
  GuidedSearch::Observation observation;
  bool done = false;  ///< false: the deadline passed before the chunk began
};

}  // namespace

void search_in_parallel(const Comparison& comparison, const SearchLimits& limits,
                        const std::function<void(Findings)>& merge, const std::function<void()>& after_epoch) {
  const auto late = [&] { return std::chrono::steady_clock::now() >= limits.deadline; };
  GuidedSearch guided(comparison.op(), focuses_of(comparison), limits.seed);
  const uint64_t chunks = limits.cases / chunk_cases + (limits.cases % chunk_cases != 0);
  uint64_t epoch = 4;
  for (uint64_t first = 0; first < chunks && !late(); first += epoch, epoch = std::min(2 * epoch, greatest_epoch)) {
    std::vector<Chunk> results(static_cast<size_t>(std::min(epoch, chunks - first)));
    in_parallel(limits.threads, results.size(), [&](size_t i) {
      if (late()) return;
      const uint64_t chunk = first + i, start = chunk * chunk_cases;
      Batch batch;
      guided.propose(chunk, start, static_cast<size_t>(std::min<uint64_t>(chunk_cases, limits.cases - start)), batch);
      results[i].observation = guided.observe(chunk, start, batch);
      results[i].findings = comparison.examine(batch, start);
      results[i].done = true;
    });
    for (Chunk& chunk : results) {
      // Chunks are learned in order and without gaps, so that the results are those of a prefix of the search.
      if (!chunk.done) break;
      guided.learn(chunk.observation);
      merge(std::move(chunk.findings));
    }
    after_epoch();
  }
}

}  // namespace mmafuzz
