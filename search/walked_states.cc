#include "search/walked_states.h"

#include <algorithm>
#include <optional>

#include "core/parallel.h"
#include "search/focuses.h"
#include "search/parallel_search.h"

namespace mmafuzz {
namespace {

/// Calls visit(focus, how many cases of the focus unit's walk of states are among the first `cases` cases of a search).
template <class Visit>
void for_each_walk(const Comparison& comparison, const GuidedSearch& search, uint64_t cases, const Visit& visit) {
  if (comparison.op().kind != OpKind::dot || comparison.op().a.fields().integer) return;
  for (size_t focus = 0; focus < search.focus_count(); ++focus) {
    if (!search.focus_model(focus)) continue;
    visit(focus, search.focus_walks(focus).states_among(search.walked(focus, cases, chunk_cases)));
  }
}

/// The walks of a search, each once: units of equal hints share one.
std::vector<MadeWalk> made_walks(const Comparison& comparison, const GuidedSearch& search, uint64_t cases) {
  std::vector<MadeWalk> walks;
  for_each_walk(comparison, search, cases, [&](size_t focus, uint64_t made) {
    const DatapathWalks& of_focus = search.focus_walks(focus);
    if (std::none_of(walks.begin(), walks.end(), [&](const MadeWalk& walk) { return walk.walks == &of_focus; }))
      walks.push_back({&of_focus, made});
  });
  return walks;
}

}  // namespace

StatePairs walked_states(const Op& op, const DotModel& model, const std::vector<MadeWalk>& walks) {
  StatePairs states(op, model);
  Batch batch(op, 1);
  for (const MadeWalk& walk : walks) {
    const DatapathWalks::Part& part = walk.walks->states();
    for (uint64_t n = 0; n < std::min(part.length, walk.cases); ++n) {
      walk.walks->make(part.first + n, batch, 0);
      states.add(batch, 0);
    }
  }
  return states;
}

std::vector<StatesOfUnit> states_of_search(const Comparison& comparison, uint64_t seed, uint64_t cases,
                                           unsigned threads) {
  const GuidedSearch search(comparison.op(), focuses_of(comparison), seed);
  std::vector<size_t> focuses;
  for_each_walk(comparison, search, cases, [&](size_t focus, uint64_t) { focuses.push_back(focus); });
  const std::vector<MadeWalk> walks = made_walks(comparison, search, cases);
  std::vector<std::optional<StatePairs>> states(focuses.size());
  in_parallel(threads, focuses.size(), [&](size_t i) {
    states[i].emplace(walked_states(comparison.op(), *search.focus_model(focuses[i]), walks));
  });
  std::vector<StatesOfUnit> all;
  for (size_t i = 0; i < focuses.size(); ++i) all.push_back({search.focus_unit(focuses[i]), std::move(*states[i])});
  return all;
}

std::vector<WalkOfStates> walks_of_states(const Comparison& comparison, uint64_t cases) {
  std::vector<WalkOfStates> all;
  const GuidedSearch search(comparison.op(), focuses_of(comparison), 1);  // the lengths depend on no seed
  uint64_t seen = 0;
  for (const MadeWalk& walk : made_walks(comparison, search, cases)) seen += walk.cases;
  for_each_walk(comparison, search, cases, [&](size_t focus, uint64_t made) {
    all.push_back({search.focus_unit(focus), made, search.focus_walks(focus).states().length, seen});
  });
  return all;
}

}  // namespace mmafuzz
