#include "search/walked_states.h"

#include <algorithm>

#include "search/focuses.h"
#include "search/parallel_search.h"

namespace mmafuzz {
namespace {

/// Calls f(focus, how many cases of its walk of states a search has made).
template <class F>
void for_each_walk(const Comparison& field, const GuidedSearch& search, uint64_t cases, const F& f) {
  if (field.op().kind != OpKind::dot || field.op().a.fields().integer) return;
  for (size_t focus = 0; focus < search.focus_count(); ++focus) {
    if (!search.focus_model(focus)) continue;
    f(focus, search.focus_sweeps(focus).states_among(search.walked(focus, cases, chunk_cases)));
  }
}

}  // namespace

StatePairs walked_states(const Op& op, const DotModel& model, const DatapathSweeps& sweeps, uint64_t cases) {
  StatePairs states(op, model);
  const DatapathSweeps::Part& part = sweeps.states();
  Batch batch(op);
  batch.resize(1);
  for (uint64_t n = 0; n < std::min(part.length, cases); ++n) {
    sweeps.make(part.first + n, batch, 0);
    states.add(batch, 0);
  }
  return states;
}

std::vector<StatesOfUnit> states_of_search(const Comparison& field, uint64_t seed, uint64_t cases) {
  std::vector<StatesOfUnit> all;
  const GuidedSearch search(field.op(), focuses_of(field), seed);
  for_each_walk(field, search, cases, [&](size_t focus, uint64_t made) {
    all.push_back({search.focus_unit(focus),
                   walked_states(field.op(), *search.focus_model(focus), search.focus_sweeps(focus), made)});
  });
  return all;
}

std::vector<WalkOfStates> walks_of_states(const Comparison& field, uint64_t cases) {
  std::vector<WalkOfStates> all;
  const GuidedSearch search(field.op(), focuses_of(field), 1);
  for_each_walk(field, search, cases, [&](size_t focus, uint64_t made) {
    all.push_back({search.focus_unit(focus), made, search.focus_sweeps(focus).states().length});
  });
  return all;
}

}  // namespace mmafuzz
