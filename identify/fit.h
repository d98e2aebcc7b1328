// Looks for rows that give all of a black box's answers. A *mismatch* is an answer that a row contradicts. A search is
// limited by Evidence::work(): by `budget`, how much it may add to that, or by `end`, the value at which it stops.
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

  /// Makes `model` the best row if it has fewer mismatches. Returns whether it has.
  bool keep_if_better(const DotModel& model, Candidate& best) const;

  /// A local search from `start`: repeats the best change of one parameter, of those of improve_blocks(), or of two,
  /// while that reduces the mismatches.
  Candidate descend(const DotModel& start, uint64_t budget);

  /// The same for a kernel that is not expected to fit: without improve_blocks(), and two parameters are changed only
  /// while at most an eighth of the answers are mismatches.
  Candidate near_miss(const DotModel& start, uint64_t budget);

  /// A row with other values of several parameters and no more mismatches than `from`, reached by random changes of one
  /// parameter, none of which adds a mismatch. A search goes on from it where no single change helps.
  DotModel drifted(Candidate from, uint64_t end = UINT64_MAX);

  /// The best row found of one kernel: from HypothesisSpace::starts(), then from random and randomly changed rows,
  /// until one fits or the budget is spent.
  Candidate best_of(Kernel kernel, uint64_t budget);

  /// The best row found of each kernel, the one with the fewest mismatches first. Ends early where one fits: the other
  /// kernels then get a short search only.
  std::vector<Candidate> search(uint64_t budget);

 private:
  // Each returns whether it has reduced best.mismatches.
  bool improve_one(Candidate& best, uint64_t end);
  bool improve_two(Candidate& best, uint64_t end);
  /// Changes which products are added together: k, block, group and order at once, since one alone seldom helps.
  bool improve_blocks(Candidate& best, uint64_t end);
  bool over(uint64_t end) const { return evidence_.work() >= end; }
  std::optional<DotModel> with_drawn_value(const DotModel& model);  ///< one parameter gets a random value
  DotModel with_drawn_values(DotModel model);                       ///< two to four parameters do
  /// HypothesisSpace::starts() and random rows of a kernel, the one with the fewest mismatches first.
  std::vector<Candidate> ranked_starts(Kernel kernel, uint64_t end);

  const HypothesisSpace& space_;
  const Evidence& evidence_;
  CounterRng rng_;
};

}  // namespace mmafuzz
