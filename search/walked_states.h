// What the walk of states has met, as far as a search went along it.
#pragma once

#include <string>
#include <vector>

#include "search/comparison.h"
#include "search/state_pairs.h"

namespace mmafuzz {

class DatapathSweeps;

/// The first cases of a walk through an op's states as a row has them; all of them where there are no more.
StatePairs walked_states(const Op& op, const DotModel& model, const DatapathSweeps& sweeps, uint64_t cases);

/// How far search_in_parallel has gone along the walk of states of a unit that is a row of floating-point numbers, or
/// claims to equal one.
struct WalkOfStates {
  std::string unit;
  uint64_t walked, whole;  ///< cases
};
std::vector<WalkOfStates> walks_of_states(const Comparison& field, uint64_t cases);

struct StatesOfUnit {
  std::string unit;
  StatePairs states;
};
/// Of each such unit after that many cases of search_in_parallel from this seed. The walk is made again: it is a
/// function of its seed.
std::vector<StatesOfUnit> states_of_search(const Comparison& field, uint64_t seed, uint64_t cases);

}  // namespace mmafuzz
