#include "triage/minimize.h"

#include <algorithm>

#include "triage/simplifications.h"

namespace mmafuzz {
namespace {

constexpr size_t batch_cases = 256;   ///< candidates judged together
constexpr int max_small_addends = 4;  ///< lists of small cases are tried up to this number of nonzero addends

}  // namespace

/// Goes from one case to simpler ones with the same value class and cause. Each accept function moves `current` to the
/// first acceptable candidate, or returns false.
struct Minimizer::Descent {
  const Judge& judge;
  Causes& causes;
  const ValueClass cls;
  const std::string& cause;
  Operands current;
  CaseCost cost;

  /// Candidates in any order; those that are not simpler are skipped.
  bool accept_first(const std::vector<Operands>& candidates) {
    Batch simpler(judge.op());
    for (const Operands& candidate : candidates) {
      if (!is_simpler(candidate, candidate.cost(), current, cost)) continue;
      simpler.resize(simpler.size() + 1);
      candidate.store(simpler, simpler.size() - 1);
      if (simpler.size() < batch_cases) continue;
      if (accept_one(simpler)) return true;
      simpler.resize(0);
    }
    return simpler.size() > 0 && accept_one(simpler);
  }

  /// Candidates of a sorted list, of which those simpler than `current` come first.
  bool accept_first(const SmallCases::List& list) {
    size_t simpler = 0;
    while (simpler < list.costs.size() &&
           (list.costs[simpler] < cost || (list.costs[simpler] == cost && comes_before(list.cases, simpler))))
      ++simpler;
    for (size_t first = 0; first < simpler; first += batch_cases)
      if (accept_one(list.cases.part(first, std::min(batch_cases, simpler - first)))) return true;
    return false;
  }

  bool comes_before(const Batch& cases, size_t index) const { return Operands(judge.op(), cases, index) < current; }

  /// Candidates that are all simpler.
  bool accept_one(const Batch& candidates) {
    const std::vector<Verdict> verdicts = judge.judge(candidates);
    Batch failing(judge.op());
    std::vector<Verdict> failures;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (!verdicts[i].fails || verdicts[i].cls != cls) continue;
      failing.append(candidates, i);
      failures.push_back(verdicts[i]);
    }
    if (failures.empty()) return false;
    const std::vector<std::string> found = causes.find(failing, failures);
    const auto at = std::find(found.begin(), found.end(), cause);
    if (at == found.end()) return false;
    current = Operands(judge.op(), failing, static_cast<size_t>(at - found.begin()));
    cost = current.cost();
    return true;
  }
};

Batch Minimizer::minimize(const Batch& single, ValueClass cls, const std::string& cause) {
  const Operands start(judge_.op(), single, 0);
  Descent descent{judge_, causes_, cls, cause, start, start.cost()};
  // The simplest case may be out of reach of the simplifications of one case, and be in a list of small cases. The
  // lists depend on the key alone, so that a second run from a minimal case finds nothing new.
  const bool has_special = cls == ValueClass::special;
  for (int addends = 1; addends < std::min(descent.cost.addends, max_small_addends + 1); ++addends)
    if (descent.accept_first(small_cases_of(addends, has_special))) break;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Simplification simplify : simplifications())
      while (descent.accept_first(simplify(descent.current))) changed = true;
    if (!changed && descent.cost.addends >= 1 && descent.cost.addends <= max_small_addends)
      changed = descent.accept_first(small_cases_of(descent.cost.addends, has_special));
  }
  return descent.current.as_batch();
}

const SmallCases::List& Minimizer::small_cases_of(int addends, bool has_special) {
  int fraction_bits = 24;  // for units without a row
  for (const std::unique_ptr<Unit>& unit : judge_.units())
    if (unit->model()) fraction_bits = unit->model()->fraction_bits;
  return small_cases_.cases_of(judge_.op(), addends, fraction_bits, has_special);
}

}  // namespace mmafuzz
