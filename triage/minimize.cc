#include "triage/minimize.h"

#include <algorithm>

#include "triage/simplifications.h"

namespace mmafuzz {
namespace {

constexpr size_t batch_cases = 256;
constexpr size_t small_case_count = 3072;  ///< tried for each number of addends
constexpr int most_small_addends = 4;

class Minimizer {
 public:
  Minimizer(const Batch& one, ValueClass cls, const std::string& cause, const Judge& judge, Causes& causes)
      : cls_(cls), cause_(cause), judge_(judge), causes_(causes), current_(judge.op(), one, 0), cost_(current_.cost()) {}

  Batch run() {
    for (int addends = 1; addends < std::min(cost_.addends, most_small_addends + 1); ++addends)
      if (accept_first(small(addends))) break;
    bool changed = true;
    while (changed) {
      changed = false;
      for (const Simplification simplify : simplifications())
        while (accept_first(simplify(current_))) changed = true;
      if (!changed && cost_.addends >= 1 && cost_.addends <= most_small_addends) changed = accept_first(small(cost_.addends));
    }
    Batch result(judge_.op());
    result.resize(1);
    current_.store(result, 0);
    return result;
  }

 private:
  /// The simplest may be out of reach of one case's simplifications, but not of a look at the corners of small cases. What is looked at
  /// depends on the key alone, so that a minimal case finds nothing new.
  const std::vector<Operands>& small(int addends) {
    std::vector<Operands>& list = small_[addends];
    if (!list.empty()) return list;
    int fraction_bits = 24;
    for (const std::unique_ptr<Unit>& unit : judge_.units())
      if (unit->model()) fraction_bits = unit->model()->fraction_bits;
    list = small_cases(judge_.op(), addends, fraction_bits, cls_ == ValueClass::special, small_case_count);
    std::vector<std::pair<CaseCost, size_t>> order;
    for (size_t i = 0; i < list.size(); ++i) order.emplace_back(list[i].cost(), i);
    std::sort(order.begin(), order.end());
    std::vector<Operands> sorted;
    for (const auto& [cost, i] : order) sorted.push_back(list[i]);
    return list = std::move(sorted);
  }

  /// Goes to the first candidate that is simpler and still of the bucket.
  bool accept_first(const std::vector<Operands>& candidates) {
    std::vector<const Operands*> simpler;
    for (const Operands& candidate : candidates) {
      if (candidate.cost() < cost_) simpler.push_back(&candidate);
      if (simpler.size() == batch_cases && accept_one(simpler)) return true;
      if (simpler.size() == batch_cases) simpler.clear();
    }
    return !simpler.empty() && accept_one(simpler);
  }

  bool accept_one(const std::vector<const Operands*>& candidates) {
    Batch cases(judge_.op());
    cases.resize(candidates.size());
    for (size_t i = 0; i < candidates.size(); ++i) candidates[i]->store(cases, i);
    const std::vector<Verdict> verdicts = judge_.judge(cases);
    Batch failing(judge_.op());
    std::vector<Verdict> said;
    std::vector<size_t> index;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (!verdicts[i].fails || verdicts[i].cls != cls_) continue;
      failing.append(cases, i);
      said.push_back(verdicts[i]);
      index.push_back(i);
    }
    if (index.empty()) return false;
    const std::vector<std::string> found = causes_.find(failing, said);
    const auto at = std::find(found.begin(), found.end(), cause_);
    if (at == found.end()) return false;
    current_ = *candidates[index[static_cast<size_t>(at - found.begin())]];
    cost_ = current_.cost();
    return true;
  }

  const ValueClass cls_;
  const std::string& cause_;
  const Judge& judge_;
  Causes& causes_;
  Operands current_;
  CaseCost cost_;
  std::map<int, std::vector<Operands>> small_;
};

}  // namespace

Batch minimize(const Batch& one, ValueClass cls, const std::string& cause, const Judge& judge, Causes& causes) {
  return Minimizer(one, cls, cause, judge, causes).run();
}

}  // namespace mmafuzz
