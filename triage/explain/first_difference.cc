#include "triage/explain/first_difference.h"

#include <algorithm>
#include <tuple>

namespace mmafuzz {
namespace {

/// A value on a step's grid (explanation.h): its sign, the digits from the first to the last that is 1, and the
/// exponent of the first one's weight. Zero is {}.
using GridValue = std::tuple<bool, std::string, int>;

GridValue value_on_grid(const ExplainedStep& step, bool negative, const std::string& bits) {
  const size_t first = bits.find('1');
  if (first == std::string::npos) return {};
  return {negative, bits.substr(first, bits.rfind('1') + 1 - first), step.grid_top() - static_cast<int>(first)};
}

/// Whether addend a of step x and b of y are the same. A step without a grid keeps no bits to compare: there addends of
/// the same source count as the same, and a difference shows in the step's result.
bool same(const ExplainedStep& x, const ExplainedAddend& a, const ExplainedStep& y, const ExplainedAddend& b) {
  if (a.source != b.source || a.is_nonzero != b.is_nonzero || a.special != b.special) return false;
  return !x.has_grid || !y.has_grid ||
         value_on_grid(x, a.is_kept_negative, a.kept) == value_on_grid(y, b.is_kept_negative, b.kept);
}

}  // namespace

std::optional<FirstDifference> first_difference(const ExplainedUnit& x, const ExplainedUnit& y) {
  const auto same_number = [](const ExplainedNumber& a, const ExplainedNumber& b) { return a.hex == b.hex; };
  const bool agree = std::equal(x.results.begin(), x.results.end(), y.results.begin(), y.results.end(), same_number);
  const size_t steps = std::min(x.steps.size(), y.steps.size());
  if (agree || steps == 0) return std::nullopt;
  for (size_t i = 0; i < steps; ++i) {  // in a step, line `addends` is the sum, the next line the result
    const ExplainedStep &s = x.steps[i], &t = y.steps[i];
    const size_t addends = std::min(s.addends.size(), t.addends.size());
    for (size_t j = 0; j < addends; ++j)
      if (!same(s, s.addends[j], t, t.addends[j])) return FirstDifference{i, {j, j}};
    if (s.addends.size() != t.addends.size()) return FirstDifference{i, {addends, addends}};
    if (s.has_grid && t.has_grid &&
        value_on_grid(s, s.is_sum_negative, s.sum) != value_on_grid(t, t.is_sum_negative, t.sum))
      return FirstDifference{i, {addends, addends}};
    if (!same_number(s.result, t.result)) return FirstDifference{i, {addends + 1, addends + 1}};
  }
  // All common steps are the same: one unit has more steps, or both have as many and differ outside of them.
  const size_t last = steps - 1;
  return FirstDifference{last, {x.steps[last].addends.size() + 1, y.steps[last].addends.size() + 1}};
}

}  // namespace mmafuzz
