// What the walk of states has met, as far as a search went along it.
#pragma once

#include <string>
#include <vector>

#include "search/comparison.h"
#include "search/state_pairs.h"

namespace mmafuzz {

class DatapathSweeps;

/// The first cases of a walk through an op's states; all of them where there are no more.
struct MadeWalk {
  const DatapathSweeps* sweeps;
  uint64_t cases;
};
/// What of a row's states such walks have met. Every unit sees the cases of all walks of an op.
StatePairs walked_states(const Op& op, const DotModel& model, const std::vector<MadeWalk>& walks);

/// How far search_in_parallel has gone along the walk of states of a unit that is a row of floating-point numbers, or
/// claims to equal one.
struct WalkOfStates {
  std::string unit;
  uint64_t walked, whole, seen;  ///< cases: its own walk's, all of that, and of the walks of all units of the op
};
std::vector<WalkOfStates> walks_of_states(const Comparison& field, uint64_t cases);

struct StatesOfUnit {
  std::string unit;
  StatePairs states;
};
/// Of each such unit after that many cases of search_in_parallel from this seed. The walks are made again: they are a
/// function of their seed.
std::vector<StatesOfUnit> states_of_search(const Comparison& field, uint64_t seed, uint64_t cases, unsigned threads);

}  // namespace mmafuzz
