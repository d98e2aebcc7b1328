#include "campaign/deepen.h"

#include <algorithm>
#include <set>

#include "campaign/differing_cases.h"
#include "core/text.h"
#include "plan/registry.h"
#include "triage/replacements.h"

namespace mmafuzz {
namespace {

constexpr size_t max_found = 32;  ///< divergences of one round of a pair, at most

struct PairOnOp {
  Op op;
  std::vector<std::string> units;
  std::set<std::string> causes;
};

/// Pairs of two models on an op, with the parameters that their causes name.
std::vector<PairOnOp> pairs_of_models(const std::vector<Bucket>& buckets) {
  std::map<std::string, PairOnOp> pairs;
  for (const Bucket& b : buckets) {
    if (b.key.property != "equal" || b.witness.empty()) continue;
    if (!std::all_of(b.key.units.begin(), b.key.units.end(),
                     [](const std::string& u) { return registry().role_of(u) == Role::model; }))
      continue;
    const std::optional<Op> op = op_of_witness(b);
    if (!op) throw std::runtime_error("bucket " + b.id() + " has no witness");
    PairOnOp& pair = pairs[b.key.units[0] + " " + b.key.units[1] + " " + to_text(*op)];
    pair.op = *op;
    pair.units = b.key.units;
    for (const std::string& name : words_of(b.cause, ',')) pair.causes.insert(name);
  }
  std::vector<PairOnOp> list;
  for (auto& [key, pair] : pairs) list.push_back(std::move(pair));
  return list;
}

class Deepening {
 public:
  Deepening(const PairOnOp& pair, Triage& triage, uint64_t cases, uint64_t seed)
      : op_(pair.op),
        units_(pair.units),
        explained_(pair.causes),
        triage_(triage),
        cases_(cases),
        seed_(seed),
        judge_(Judge::bound("equal", units_, op_, registry())),
        causes_(judge_, registry()),
        replacements_(replacements_of(judge_)) {}

  size_t run() {
    size_t found = 0;
    while (const size_t more = round()) found += more;
    return found;
  }

 private:
  static std::vector<Replacement> replacements_of(const Judge& judge) {
    const DotModel *first = judge.units()[0]->model(), *second = judge.units()[1]->model();
    return first && second ? replacements(*first, *second) : std::vector<Replacement>{};
  }

  /// Searches with the explained parameters replaced; returns the number of divergences added.
  size_t round() {
    std::string overrides;
    size_t open = 0;
    for (const Replacement& r : replacements_) {
      if (explained_.count(r.name)) overrides += (overrides.empty() ? "" : ",") + r.overrides[0];
      else ++open;
    }
    const bool is_first_round = explained_.empty();
    if (!is_first_round && (open == 0 || overrides.empty())) return 0;
    const std::string replaced = overrides.empty() ? units_[0] : with_overrides_in_name(units_[0], overrides);
    if (!registry().bind(replaced, op_)) return 0;
    DifferingCases differing(op_, {replaced, units_[1]}, seed_);
    size_t found = 0;
    for (uint64_t cases = 0; cases < cases_ && found < max_found; cases += DifferingCases::round_cases)
      found += take(differing.next(), overrides.empty());
    return found;
  }

  /// Takes cases on which the pair differs with the explained parameters replaced. Those on which it also differs
  /// unchanged go to the triage, from the first one on that has a new cause. If nothing `is_unchanged`, those on which
  /// it does not differ again are unstable. Returns their number.
  size_t take(const Batch& differing, bool is_unchanged) {
    const std::vector<Verdict> verdicts = judge_.judge(differing);
    size_t found = 0;
    for (size_t i = 0; i < differing.size() && found < max_found; ++i) {
      if (!verdicts[i].fails && !is_unchanged) continue;
      const Batch single = differing.part(i);
      const std::string cause = verdicts[i].fails ? causes_.find(single, {verdicts[i]})[0] : unstable;
      bool is_new = false;
      for (const std::string& name : words_of(cause, ',')) is_new |= explained_.insert(name).second;
      if (!is_new && found == 0) continue;
      triage_.add(logged_difference(judge_, single, verdicts[i]));
      ++found;
    }
    return found;
  }

  const Op op_;
  const std::vector<std::string> units_;
  std::set<std::string> explained_;
  Triage& triage_;
  const uint64_t cases_, seed_;
  const Judge judge_;
  Causes causes_;
  const std::vector<Replacement> replacements_;
};

}  // namespace

size_t find_differences(Triage& triage, const Op& op, const std::vector<std::string>& units, uint64_t cases,
                        uint64_t seed) {
  return Deepening({op, units, {}}, triage, cases, seed).run();
}

size_t deepen(Triage& triage, const std::vector<Bucket>& buckets, uint64_t cases, uint64_t seed) {
  size_t found = 0;
  for (const PairOnOp& pair : pairs_of_models(buckets)) found += Deepening(pair, triage, cases, seed).run();
  return found;
}

}  // namespace mmafuzz
