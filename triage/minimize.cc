#include "triage/minimize.h"

#include <algorithm>

#include "triage/simplifications.h"

namespace mmafuzz {
namespace {

constexpr size_t batch_cases = 256;
constexpr size_t small_case_count = 6144;  ///< tried for each number of addends
constexpr int most_small_addends = 4;

}  // namespace

/// From one case to simpler ones, as long as the bucket stays.
struct Minimizer::Descent {
  const Judge& judge;
  Causes& causes;
  const ValueClass cls;
  const std::string& cause;
  Operands current;
  CaseCost cost;

  /// Goes to the first candidate that is simpler and still of the bucket.
  bool accept_first(const std::vector<Operands>& candidates) {
    std::vector<Candidate> list;
    list.reserve(candidates.size());
    for (const Operands& candidate : candidates) list.push_back({candidate, candidate.cost()});
    return accept_first(list);
  }

  bool accept_first(const std::vector<Candidate>& candidates) {
    std::vector<const Candidate*> simpler;
    for (const Candidate& candidate : candidates) {
      if (is_simpler(candidate.operands, candidate.cost, current, cost)) simpler.push_back(&candidate);
      if (simpler.size() < batch_cases) continue;
      if (accept_one(simpler)) return true;
      simpler.clear();
    }
    return !simpler.empty() && accept_one(simpler);
  }

  bool accept_one(const std::vector<const Candidate*>& candidates) {
    Batch cases(judge.op());
    cases.resize(candidates.size());
    for (size_t i = 0; i < candidates.size(); ++i) candidates[i]->operands.store(cases, i);
    const std::vector<Verdict> verdicts = judge.judge(cases);
    Batch failing(judge.op());
    std::vector<Verdict> said;
    std::vector<size_t> index;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (!verdicts[i].fails || verdicts[i].cls != cls) continue;
      failing.append(cases, i);
      said.push_back(verdicts[i]);
      index.push_back(i);
    }
    if (index.empty()) return false;
    const std::vector<std::string> found = causes.find(failing, said);
    const auto at = std::find(found.begin(), found.end(), cause);
    if (at == found.end()) return false;
    const Candidate& chosen = *candidates[index[static_cast<size_t>(at - found.begin())]];
    current = chosen.operands;
    cost = chosen.cost;
    return true;
  }
};

Batch Minimizer::minimize(const Batch& one, ValueClass cls, const std::string& cause) {
  const Operands start(judge_.op(), one, 0);
  Descent descent{judge_, causes_, cls, cause, start, start.cost()};
  // The simplest may be out of reach of one case's simplifications, but not of a look at the corners of small cases.
  // What is looked at depends on the key alone, so that a minimal case finds nothing new.
  const bool specials = cls == ValueClass::special;
  for (int addends = 1; addends < std::min(descent.cost.addends, most_small_addends + 1); ++addends)
    if (descent.accept_first(small_cases_of(addends, specials))) break;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Simplification simplify : simplifications())
      while (descent.accept_first(simplify(descent.current))) changed = true;
    if (!changed && descent.cost.addends >= 1 && descent.cost.addends <= most_small_addends)
      changed = descent.accept_first(small_cases_of(descent.cost.addends, specials));
  }
  Batch result(judge_.op());
  result.resize(1);
  descent.current.store(result, 0);
  return result;
}

const std::vector<Minimizer::Candidate>& Minimizer::small_cases_of(int addends, bool specials) {
  const auto [at, is_new] = small_.try_emplace({addends, specials});
  std::vector<Candidate>& list = at->second;
  if (!is_new) return list;
  int fraction_bits = 24;
  for (const std::unique_ptr<Unit>& unit : judge_.units())
    if (unit->model()) fraction_bits = unit->model()->fraction_bits;
  for (Operands& operands : small_cases(judge_.op(), addends, fraction_bits, specials, small_case_count)) {
    const CaseCost cost = operands.cost();
    list.push_back({std::move(operands), cost});
  }
  std::sort(list.begin(), list.end(),
            [](const Candidate& x, const Candidate& y) { return is_simpler(x.operands, x.cost, y.operands, y.cost); });
  return list;
}

}  // namespace mmafuzz
