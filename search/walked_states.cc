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
  if (field.op().kind != OpKind::dot || field.op().a.fields().integer) return all;
  const GuidedSearch search(field.op(), focuses_of(field), seed);
  for (size_t focus = 0; focus < search.focus_count(); ++focus) {
    const DotModel* model = search.focus_model(focus);
    if (!model) continue;
    const DatapathSweeps& sweeps = search.focus_sweeps(focus);
    const uint64_t walked = search.walked(focus, cases, chunk_cases), first = part_named(sweeps, "states").first;
    all.push_back(
        {search.focus_unit(focus), walked_states(field.op(), *model, sweeps, walked - std::min(walked, first))});
  }
  return all;
}

}  // namespace mmafuzz
