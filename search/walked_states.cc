#include "search/walked_states.h"

#include <algorithm>

#include "search/focuses.h"
#include "search/parallel_search.h"

namespace mmafuzz {
namespace {

/// The part of a walk that is named so, or one of no length.
DatapathSweeps::Part part_named(const DatapathSweeps& sweeps, const char* name) {
  for (const DatapathSweeps::Part& part : sweeps.parts())
    if (part.name == name) return part;
  return {name, 0, 0};
}

/// Calls f(focus, the part of its walk that is the walk of states, how many cases of that a search has made).
template <class F>
void for_each_walk(const Comparison& field, const GuidedSearch& search, uint64_t cases, const F& f) {
  if (field.op().kind != OpKind::dot || field.op().a.fields().integer) return;
  for (size_t focus = 0; focus < search.focus_count(); ++focus) {
    if (!search.focus_model(focus)) continue;
    const DatapathSweeps::Part part = part_named(search.focus_sweeps(focus), "states");
    const uint64_t walked = search.walked(focus, cases, chunk_cases);
    f(focus, part, std::min(part.length, walked - std::min(walked, part.first)));
  }
}

}  // namespace

StatePairs walked_states(const Op& op, const DotModel& model, const DatapathSweeps& sweeps, uint64_t cases) {
  StatePairs states(op, model);
  const DatapathSweeps::Part part = part_named(sweeps, "states");
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
  for_each_walk(field, search, cases, [&](size_t focus, const DatapathSweeps::Part&, uint64_t made) {
    all.push_back({search.focus_unit(focus),
                   walked_states(field.op(), *search.focus_model(focus), search.focus_sweeps(focus), made)});
  });
  return all;
}

std::vector<WalkOfStates> walks_of_states(const Comparison& field, uint64_t cases) {
  std::vector<WalkOfStates> all;
  const GuidedSearch search(field.op(), focuses_of(field), 1);
  for_each_walk(field, search, cases, [&](size_t focus, const DatapathSweeps::Part& part, uint64_t made) {
    all.push_back({search.focus_unit(focus), made, part.length});
  });
  return all;
}

}  // namespace mmafuzz
