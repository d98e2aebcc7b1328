// Which states of the datapath (search/datapath_state.h) the walk of states has covered, as far as a search went along
// it. The walk makes cases in an order that leaves out no pair of levels of two factors (docs/search.md).
#pragma once

#include <string>
#include <vector>

#include "search/comparison.h"
#include "search/state_pairs.h"

namespace mmafuzz {

class DatapathWalks;

/// The first `cases` cases of the walk of states among `walks`; all where the walk has fewer.
struct MadeWalk {
  const DatapathWalks* walks;
  uint64_t cases;
};
/// The states of a row that the cases of all these walks have covered: every unit runs the cases of all walks of an op.
StatePairs walked_states(const Op& op, const DotModel& model, const std::vector<MadeWalk>& walks);

/// How far search_in_parallel goes in `cases` cases along the walk of states of a unit that is a row of floating-point
/// numbers, or claims to equal one.
struct WalkOfStates {
  std::string unit;
  uint64_t walked;  ///< cases made of the unit's own walk
  uint64_t whole;   ///< cases of the unit's own walk in all
  uint64_t seen;    ///< cases made of all walks of the op: every unit runs them
};
std::vector<WalkOfStates> walks_of_states(const Comparison& comparison, uint64_t cases);

struct StatesOfUnit {
  std::string unit;
  StatePairs states;
};
/// The states that each such unit has covered after `cases` cases of search_in_parallel from this seed. The walks are
/// made again, because they are a function of their seed.
std::vector<StatesOfUnit> states_of_search(const Comparison& comparison, uint64_t seed, uint64_t cases,
                                           unsigned threads);

}  // namespace mmafuzz
