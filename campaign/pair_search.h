// What differs between two units on one op: a search, deepened until every difference of their rows has shown or the
// cases are used up, and the facts of what was found.
#pragma once

#include <string>
#include <vector>

#include "core/answers.h"
#include "core/registry.h"
#include "triage/facts/conclusions.h"

namespace mmafuzz {

struct PairSearch {
  Op op;
  std::string first, second;
  uint64_t cases = 1 << 15;  ///< of each round of the search (find_differences)
  uint64_t seed = 1;
};

struct PairAnswer {
  std::vector<std::string> units;        ///< names, as they were bound
  uint64_t compared = 0, differing = 0;  ///< unguided structured cases that both answered; those of them that differ
  AnswerCounts answers;                  ///< counts, by unit, of what each answered of these cases
  std::vector<Fact> facts;
  /// What holds near the witness where one unit alone is neither model nor reference (UnitWithoutRow); "" elsewhere.
  std::string of_stranger;
  std::vector<std::string> unseen;  ///< names of facts that the rows imply and no case showed
  std::vector<std::string> hidden;  ///< names of facts that the rows imply and no operands of the op can show
};

/// Throws BadInput where a unit does not take the op.
PairAnswer search_pair(const PairSearch& search);

}  // namespace mmafuzz
