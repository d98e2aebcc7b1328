#include "bench/search/race.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <mutex>

#include "core/parallel.h"

namespace mmafuzz {
namespace {

// Batches grow, so that a difference that is found at once is not charged with the time of a large batch.
constexpr size_t first_batch = 64, greatest_batch = 4096;

/// Processor time of this thread: other work on the machine does not count.
double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

/// A unit that is bound again when a batch has another op: published vectors of one format have several k.
class BoundUnit {
 public:
  using Make = std::function<std::unique_ptr<Unit>(const Op&)>;
  BoundUnit(std::string name, const Op& op, Make make = {}) : name_(std::move(name)), make_(std::move(make)) {
    bind(op);
  }
  const Unit& unit() const { return *unit_; }
  void run(const Batch& batch, Outcomes& outcomes) {
    if (!(batch.op() == op_)) bind(batch.op());
    unit_->run(batch, outcomes);
  }

 private:
  void bind(const Op& op) {
    op_ = op;
    unit_ = make_ ? make_(op) : bind_or_fail(name_, op);
  }

  std::string name_;
  Make make_;
  Op op_;
  std::unique_ptr<Unit> unit_;
};

/// The first case on which the encodings differ, or the number of cases.
size_t first_difference(const Column& x, const Column& y) {
  const size_t bytes = x.cases() * x.stride();
  return size_t(std::mismatch(x.data(), x.data() + bytes, y.data()).first - x.data()) / x.stride();
}

/// One search and the mutants that run on its cases, all with the same original and op.
struct Search {
  size_t strategy;
  uint64_t seed;
  std::vector<size_t> mutants;
};

/// One mutant in a search.
class Contender {
 public:
  Contender(const Mutant& mutant, const Search& search, size_t index)
      : unit_(mutant.name, mutant.op, mutant.make), run_{index, search.strategy, search.seed} {}
  const MutantRun& result() const { return run_; }
  bool is_active() const { return is_active_; }

  /// Runs the mutant on a batch. `shared`: seconds that search and original took so far.
  void meet(const Batch& batch, const Outcomes& original, double shared, const RaceLimits& limits) {
    const double start = thread_seconds();
    unit_.run(batch, outcomes_);
    const size_t first = first_difference(original.results, outcomes_.results);
    seconds_ += thread_seconds() - start;
    run_.killed = first < batch.size();
    run_.cases += run_.killed ? first + 1 : batch.size();
    run_.seconds = shared + seconds_;
    is_active_ = !run_.killed && (!limits.cases || run_.cases < limits.cases) &&
                 (!limits.seconds || run_.seconds < limits.seconds);
  }

 private:
  BoundUnit unit_;
  Outcomes outcomes_;
  MutantRun run_;
  double seconds_ = 0;  ///< that the mutant took
  bool is_active_ = true;
};

void run_search(const Search& search, const Strategy& strategy, const std::vector<Mutant>& mutants,
                const RaceLimits& limits, std::vector<MutantRun>& runs) {
  const Mutant& representative = mutants[search.mutants.front()];
  const Op& op = representative.op;
  BoundUnit original(representative.original, op);
  std::vector<Contender> contenders;
  for (const size_t m : search.mutants) contenders.emplace_back(mutants[m], search, m);
  const InputStream stream = strategy.start(original.unit(), op, search.seed);
  Batch batch;
  Outcomes outcomes;
  double shared = 0;
  uint64_t cases = 0;
  size_t wanted = first_batch;
  while (std::any_of(contenders.begin(), contenders.end(), [](const Contender& c) { return c.is_active(); })) {
    const double start = thread_seconds();
    if (!stream.next(limits.cases ? size_t(std::min<uint64_t>(wanted, limits.cases - cases)) : wanted, batch)) break;
    original.run(batch, outcomes);
    stream.observe(batch);
    shared += thread_seconds() - start;
    cases += batch.size();
    wanted = std::min(2 * wanted, greatest_batch);
    for (Contender& c : contenders)
      if (c.is_active()) c.meet(batch, outcomes, shared, limits);
    if (limits.cases && cases >= limits.cases) break;
  }
  for (const Contender& c : contenders) runs.push_back(c.result());
}

std::vector<Search> plan(const std::vector<Mutant>& mutants, const std::vector<Strategy>& strategies, uint64_t seeds) {
  std::map<std::string, std::vector<size_t>> by_original;
  for (size_t m = 0; m < mutants.size(); ++m)
    by_original[mutants[m].original + " " + to_text(mutants[m].op)].push_back(m);
  std::vector<Search> searches;
  // Strategies on the same mutants run one after the other, so that a machine that becomes busy slows all of them.
  for (const auto& [original, members] : by_original)
    for (uint64_t seed = 1; seed <= seeds; ++seed)
      for (size_t s = 0; s < strategies.size(); ++s)
        if (seed == 1 || strategies[s].is_random) searches.push_back({s, seed, members});
  return searches;
}

}  // namespace

std::vector<MutantRun> race(const std::vector<Mutant>& mutants, const std::vector<Strategy>& strategies,
                            const RaceLimits& limits, const std::function<void(size_t, size_t)>& progress) {
  const std::vector<Search> searches = plan(mutants, strategies, limits.seeds);
  std::vector<MutantRun> runs;
  std::mutex mutex;
  size_t finished = 0;
  in_parallel(limits.jobs, searches.size(), [&](size_t i) {
    std::vector<MutantRun> some;
    run_search(searches[i], strategies[searches[i].strategy], mutants, limits, some);
    const std::lock_guard lock(mutex);
    runs.insert(runs.end(), some.begin(), some.end());
    progress(++finished, searches.size());
  });
  return runs;
}

}  // namespace mmafuzz
