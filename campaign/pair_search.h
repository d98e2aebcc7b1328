// What differs between two units on one op, found on the spot: a search, deepened until every difference of their rows
// has shown itself or the cases are used up, and the facts of what was found.
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
  uint64_t cases = 1 << 15;  ///< of each round of the search
  uint64_t seed = 1;
};

struct PairAnswer {
  std::vector<std::string> units;        ///< as they were bound
  uint64_t compared = 0, differing = 0;  ///< structured cases without guidance: how often they differ
  AnswerCounts answers;                  ///< to them
  std::vector<Fact> facts;
  std::vector<std::string> unseen;  ///< facts that the rows imply and no case showed
  std::vector<std::string> hidden;  ///< in which the rows differ, too, but no operands of the op can show it
};

/// Throws BadInput where a unit does not take the op.
PairAnswer search_pair(const PairSearch& search);

}  // namespace mmafuzz
