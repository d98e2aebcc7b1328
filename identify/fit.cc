#include "identify/fit.h"

#include <algorithm>

namespace mmafuzz {
namespace {

bool fewer(const Fit::Candidate& x, const Fit::Candidate& y) { return x.mismatches < y.mismatches; }

}  // namespace

bool Fit::keep_if_better(const DotModel& model, Candidate& best) const {
  const size_t mismatches = evidence_.mismatches(model, best.mismatches);
  if (mismatches >= best.mismatches) return false;
  best = {model, mismatches};
  return true;
}

bool Fit::improve_one(Candidate& best, uint64_t end) {
  bool improved = false;
  for (const Parameter* p : space_.parameters_of(best.model.kernel)) {
    if (best.mismatches == 0 || over(end)) break;
    const DotModel from = best.model;
    space_.for_each_other_value(from, *p,
                                [&](int64_t, const DotModel& other) { improved |= keep_if_better(other, best); });
  }
  return improved;
}

bool Fit::improve_two(Candidate& best, uint64_t end) {
  const std::vector<const Parameter*>& all = space_.parameters_of(best.model.kernel);
  // Pairs of few values first.
  std::vector<std::pair<const Parameter*, const Parameter*>> pairs;
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = i + 1; j < all.size(); ++j) pairs.push_back({all[i], all[j]});
  const auto cost = [&](const auto& pair) {
    return space_.values(*pair.first).size() * space_.values(*pair.second).size();
  };
  std::stable_sort(pairs.begin(), pairs.end(), [&](const auto& x, const auto& y) { return cost(x) < cost(y); });
  for (const auto& [p, q] : pairs) {
    const DotModel from = best.model;
    bool improved = false;
    for (const int64_t x : space_.values(*p)) {
      if (over(end)) return false;
      if (x == p->get(from)) continue;
      for (const int64_t y : space_.values(*q)) {
        if (y == q->get(from)) continue;
        DotModel changed = from;
        p->set(changed, x);
        q->set(changed, y);
        if (contradiction_in(changed).empty()) improved |= keep_if_better(changed, best);
      }
    }
    if (improved) return true;
  }
  return false;
}

bool Fit::improve_blocks(Candidate& best, uint64_t end) {
  std::vector<const Parameter*> changed_together;
  for (const Parameter* p : space_.parameters_of(best.model.kernel))
    for (const char* name : {"k", "block", "group", "order"})
      if (p->name == std::string_view(name)) changed_together.push_back(p);
  bool improved = false;
  const auto walk = [&](const auto& self, const DotModel& from, size_t depth) -> void {
    if (over(end) || best.mismatches == 0) return;
    if (depth == changed_together.size()) {
      if (contradiction_in(from).empty()) improved |= keep_if_better(from, best);
      return;
    }
    const Parameter& p = *changed_together[depth];
    for (const int64_t value : space_.values(p)) {
      // A block as long as the dot, or longer, is the same. A longer instruction is not: the order goes by its length.
      const bool is_whole_dot = p.words.empty() && p.name != std::string_view("k") && value > space_.op().k;
      if (is_whole_dot && value != p.get(best.model)) continue;
      DotModel changed = from;
      p.set(changed, value);
      self(self, changed, depth + 1);
    }
  };
  const DotModel from = best.model;
  walk(walk, from, 0);
  return improved;
}

Fit::Candidate Fit::descend(const DotModel& start, uint64_t budget) {
  const uint64_t end = evidence_.work() + budget;
  Candidate best{start, evidence_.mismatches(start)};
  while (best.mismatches > 0 && !over(end))
    if (!improve_one(best, end) && !improve_blocks(best, end) && !improve_two(best, end)) break;
  return best;
}

Fit::Candidate Fit::near_miss(const DotModel& start, uint64_t budget) {
  const uint64_t end = evidence_.work() + budget;
  Candidate best{start, evidence_.mismatches(start)};
  const auto hopeless = [&] { return best.mismatches > evidence_.size() / 8; };
  while (best.mismatches > 0 && !over(end))
    if (!improve_one(best, end) && (hopeless() || !improve_two(best, end))) break;
  return best;
}

std::optional<DotModel> Fit::with_drawn_value(const DotModel& m) {
  const std::vector<const Parameter*>& all = space_.parameters_of(m.kernel);
  const Parameter& p = *all[rng_.below(static_cast<uint32_t>(all.size()))];
  return with_value(m, p, space_.draw_value(p, rng_));
}

DotModel Fit::with_drawn_values(DotModel m) {
  for (int changes = 2 + static_cast<int>(rng_.below(3)); changes > 0; --changes)
    if (const std::optional<DotModel> changed = with_drawn_value(m)) m = *changed;
  return m;
}

DotModel Fit::drifted(Candidate from, uint64_t end) {
  constexpr int changes = 128;
  for (int change = 0; change < changes && !over(end); ++change) {
    const std::optional<DotModel> changed = with_drawn_value(from.model);
    if (changed && evidence_.mismatches(*changed, from.mismatches + 1) <= from.mismatches) from.model = *changed;
  }
  return from.model;
}

std::vector<Fit::Candidate> Fit::ranked_starts(Kernel kernel, uint64_t end) {
  std::vector<Candidate> starts;
  for (const DotModel& start : space_.starts(kernel)) starts.push_back({start, evidence_.mismatches(start)});
  constexpr int random_starts = 200;
  size_t limit = SIZE_MAX / 2;
  for (const Candidate& start : starts) limit = std::min(limit, start.mismatches);
  for (int i = 0; i < random_starts && !over(end); ++i) {
    const DotModel start = space_.draw_row(kernel, rng_);
    // Counting stops where a start is clearly worse than the best.
    starts.push_back({start, evidence_.mismatches(start, limit + limit / 4 + 1)});
    limit = std::min(limit, starts.back().mismatches);
  }
  std::stable_sort(starts.begin(), starts.end(), fewer);
  return starts;
}

Fit::Candidate Fit::best_of(Kernel kernel, uint64_t budget) {
  const uint64_t end = evidence_.work() + budget;
  const std::vector<Candidate> starts = ranked_starts(kernel, evidence_.work() + budget / 4);
  Candidate best;
  constexpr size_t descended = 4;
  for (size_t i = 0; i < starts.size() && i < descended; ++i) {
    best = std::min(best, descend(starts[i].model, (end - evidence_.work()) / 3), fewer);
    if (best.mismatches == 0 || over(end)) return best;
  }
  for (int round = 0; !over(end); ++round) {
    const DotModel start = round % 4 == 0   ? with_drawn_values(best.model)
                           : round % 4 == 3 ? space_.draw_row(kernel, rng_)
                                            : drifted(best, end);
    best = std::min(best, descend(start, (end - evidence_.work()) / 4 + budget / 20), fewer);
    if (best.mismatches == 0) break;
  }
  return best;
}

std::vector<Fit::Candidate> Fit::search(uint64_t budget) {
  const uint64_t end = evidence_.work() + budget;
  // Kernels are ordered by the best of their starts: the nearest is searched first and longest.
  std::vector<Candidate> kernels;
  for (const Kernel kernel : space_.kernels())
    kernels.push_back(ranked_starts(kernel, evidence_.work() + budget / 40).front());
  std::stable_sort(kernels.begin(), kernels.end(), fewer);
  // Single changes tell most kernels apart; pairs of changes cost far more.
  for (Candidate& kernel : kernels) {
    kernel = near_miss(kernel.model, budget / 40);
    if (kernel.mismatches == 0) break;
  }
  std::stable_sort(kernels.begin(), kernels.end(), fewer);
  const size_t hopeless = 3 * kernels.front().mismatches + 8;
  for (Candidate& kernel : kernels) {
    if (kernels.front().mismatches == 0 || kernel.mismatches > hopeless) break;
    // Where one change does not help, another one that does no harm may open the way.
    constexpr int drifts = 8;
    for (int n = 0; n < drifts && kernel.mismatches > 0 && kernel.mismatches < evidence_.size() / 16; ++n) {
      Candidate reached{drifted(kernel, evidence_.work() + budget / 400), kernel.mismatches};
      while (reached.mismatches > 0 && improve_one(reached, end)) {}
      if (reached.mismatches <= kernel.mismatches) kernel = reached;
    }
    kernel = std::min(kernel, descend(kernel.model, budget / 20), fewer);
    if (kernel.mismatches == 0) break;
  }
  std::stable_sort(kernels.begin(), kernels.end(), fewer);
  for (size_t i = 0; kernels.front().mismatches > 0 && i < kernels.size() && !over(end); ++i) {
    kernels[i] = std::min(kernels[i], best_of(kernels[i].model.kernel, (end - evidence_.work()) / 2), fewer);
    if (kernels[i].mismatches == 0) break;
  }
  std::stable_sort(kernels.begin(), kernels.end(), fewer);
  return kernels;
}

}  // namespace mmafuzz
