// Looks for rows that give all of a black box's answers.
#pragma once

#include "arithmetic/counter_rng.h"
#include "identify/evidence.h"
#include "identify/space.h"

namespace mmafuzz {

class Fit {
 public:
  Fit(const HypothesisSpace& space, const Evidence& evidence, uint64_t seed)
      : space_(space), evidence_(evidence), rng_(seed, 0) {}

  struct Candidate {
    DotModel model;
    size_t mismatches = SIZE_MAX;
  };

  /// The row that is reached from a start by the best change of one parameter, or of two that belong together, again
  /// and again.
  Candidate descend(const DotModel& start, uint64_t budget);

  /// The same for a kernel that is not expected to fit: two parameters are changed only where few answers are against
  /// it.
  Candidate near_miss(const DotModel& start, uint64_t budget);

  /// A row with other values that contradict no more answers: parameters that only show together change one by one.
  /// `end` is a total of Evidence::work.
  DotModel drifted(Candidate from, uint64_t end = UINT64_MAX);

  /// The best row of one kernel: from its starts, and then from random ones, until one fits or the budget is spent.
  Candidate best_of(Kernel kernel, uint64_t budget);

  /// The best row of each kernel, the best first. Ends early where one fits: the others get a short search only.
  std::vector<Candidate> search(uint64_t budget);

 private:
  bool improve_one(Candidate& best, uint64_t end);
  bool improve_two(Candidate& best, uint64_t end);
  /// Which products are added together, all at once: length, blocks and order of an instruction show together only.
  bool improve_blocks(Candidate& best, uint64_t end);
  bool over(uint64_t end) const { return evidence_.work() >= end; }
  std::optional<DotModel> with_drawn_value(const DotModel& model);  ///< of one parameter
  DotModel shaken(DotModel model);
  /// The starts of a kernel and random rows of it, the best first.
  std::vector<Candidate> ranked_starts(Kernel kernel, uint64_t end);

  const HypothesisSpace& space_;
  const Evidence& evidence_;
  CounterRng rng_;
};

}  // namespace mmafuzz
