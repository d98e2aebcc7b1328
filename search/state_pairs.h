// Which pairs and triples of a datapath's levels a search has met, of those that there may be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/datapath_state.h"

namespace mmafuzz {

class StatePairs {
 public:
  StatePairs(const Op& op, const DotModel& model);

  void add(const Batch& batch, size_t index);

  struct Count {
    uint64_t met = 0, possible = 0;
  };
  /// Levels alone. What was not met alone counts in no pair and no triple.
  Count levels() const;
  std::vector<std::string> unmet_levels() const;
  /// Of factors of these two kinds, one at least of a lane, c or scales: what is of the sum alone are bins
  /// (docs/coverage.md).
  Count pairs(DatapathState::Kind first, DatapathState::Kind second) const;
  Count pairs() const;
  /// Of the factors of each lane and of c, and of what the sum is.
  Count triples() const;
  /// Pairs that may be and were not met, as "a[3]=zero and cut[0]=half"; at most so many.
  std::vector<std::string> unmet(size_t most) const;
  /// Pairs that were met and may not be: the rules of what may be are wrong then.
  std::vector<std::string> contradictions() const;
  uint64_t cases() const { return cases_; }

 private:
  bool met(size_t level, size_t other) const { return rows_[level * words_ + other / 64] >> (other % 64) & 1; }
  bool met(size_t level) const { return met(level, level); }
  /// Calls each(first factor, level, second factor, level, whether it was met) for all pairs of levels that were met.
  template <class Each>
  void each_pair(Each each) const;
  /// Of the pairs of factors for which counts(first, second).
  template <class Counts>
  Count count_pairs(Counts counts) const;
  std::string text(const DatapathState::Factor& f, int level) const;

  DatapathState state_;
  size_t words_;
  std::vector<uint64_t> rows_;               ///< by level, those met beside it
  std::vector<std::vector<size_t>> groups_;  ///< factors whose triples count
  std::vector<std::vector<bool>> triples_;   ///< by group, three factors of it and their levels
  std::vector<uint64_t> now_;
  uint64_t cases_ = 0;
};

}  // namespace mmafuzz
