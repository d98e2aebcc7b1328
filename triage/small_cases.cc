#include "triage/small_cases.h"

#include <algorithm>

#include "triage/simplifications.h"

namespace mmafuzz {
namespace {

constexpr size_t tried_cases = 6144;  ///< for each number of addends

void make(SmallCases::List& list, const Op& op, int addends, int fraction_bits, bool specials) {
  struct Candidate {
    Operands operands;
    CaseCost cost;
  };
  std::vector<Candidate> candidates;
  for (Operands& operands : small_cases(op, addends, fraction_bits, specials, tried_cases)) {
    const CaseCost cost = operands.cost();
    candidates.push_back({std::move(operands), cost});
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& x, const Candidate& y) { return is_simpler(x.operands, x.cost, y.operands, y.cost); });
  list.cases = Batch(op);
  list.cases.resize(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].operands.store(list.cases, i);
    list.costs.push_back(candidates[i].cost);
  }
}

}  // namespace

const SmallCases::List& SmallCases::of(const Op& op, int addends, int fraction_bits, bool specials) {
  Slot* slot = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::unique_ptr<Slot>& at = slots_[{to_text(op), addends, fraction_bits, specials}];
    if (!at) at = std::make_unique<Slot>();
    slot = at.get();
  }
  std::call_once(slot->made, [&] { make(slot->list, op, addends, fraction_bits, specials); });
  return slot->list;
}

}  // namespace mmafuzz
