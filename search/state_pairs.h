// Which pairs and triples of a datapath's levels (search/datapath_state.h) a search has covered, out of those that are
// possible. A level, pair or triple is *covered* when one case has had all of its levels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/datapath_state.h"

namespace mmafuzz {

class StatePairs {
 public:
  StatePairs(const Op& op, const DotModel& model);

  /// Notes the levels of one case, and all of their pairs and triples.
  void add(const Batch& batch, size_t index);

  struct Count {
    uint64_t covered = 0, possible = 0;
  };
  /// How many single levels were covered, of those that DatapathState::possible does not exclude. A level that was
  /// never covered counts in no pair and no triple, not even as possible.
  Count levels() const;
  /// The possible levels that were not covered, as "cut[0]=half".
  std::vector<std::string> uncovered_levels() const;
  /// Pairs of a factor of one kind with a factor of the other kind. At least one of the two is of a lane, c or a scale:
  /// pairs of the sum's own factors are bins (docs/coverage.md).
  Count pairs(DatapathState::Kind first, DatapathState::Kind second) const;
  /// Pairs of all kinds.
  Count pairs() const;
  /// Triples of factors of one lane, of c, or of the sum's greatest, size, lost and rest.
  Count triples() const;
  /// Possible pairs that were not covered, as "a[3]=zero and cut[0]=half"; at most `most`.
  std::vector<std::string> uncovered(size_t most) const;
  /// Pairs that were covered though DatapathState::possible excludes them: a rule of search/possible_states.cc is
  /// wrong.
  std::vector<std::string> contradictions() const;
  uint64_t cases() const { return cases_; }

 private:
  bool covered(size_t level, size_t other) const { return rows_[level * words_ + other / 64] >> (other % 64) & 1; }
  bool covered(size_t level) const { return covered(level, level); }
  /// Calls each(first factor, its level, second factor, its level, whether a case had both) for all pairs of levels of
  /// which each was covered.
  template <class Each>
  void each_pair(Each each) const;
  /// Counts the possible pairs of those factors for which counts(first, second).
  template <class Counts>
  Count count_pairs(Counts counts) const;
  std::string text(const DatapathState::Factor& f, int level) const;

  DatapathState state_;
  size_t words_;                ///< 64-bit words of a set of levels
  std::vector<uint64_t> rows_;  ///< bit matrix, words_ words a row: bit y of row x says that a case had levels x and y,
                                ///< both numbered as Factor::first does
  std::vector<std::vector<size_t>> groups_;  ///< by group: numbers of the factors whose triples count
  std::vector<std::vector<bool>> triples_;   ///< by group: for each three of its factors in the order of each_three, a
                                             ///< bit for each combination of their levels, last factor fastest
  std::vector<uint64_t> now_;                ///< bit set of the levels of the case that add() notes
  uint64_t cases_ = 0;
};

}  // namespace mmafuzz
