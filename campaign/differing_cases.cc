#include "campaign/differing_cases.h"

#include "core/case_text.h"
#include "plan/registry.h"
#include "search/focuses.h"

namespace mmafuzz {

DifferingCases::DifferingCases(const Op& op, const std::vector<std::string>& units, uint64_t seed)
    : op_(op), comparison_(op, units, registry(), {}), search_(op, focuses_of(comparison_), seed) {}

Batch DifferingCases::next() {
  const uint64_t round = round_++;
  Batch batch, differing(op_);
  search_.propose(round, round * round_cases, round_cases, batch);
  search_.learn(search_.observe(round, round * round_cases, batch));
  std::vector<Outcomes> outcomes;
  comparison_.run(batch, outcomes);
  const bool have_flags = !outcomes[0].flags.empty() && !outcomes[1].flags.empty();
  for (size_t i = 0; i < batch.size(); ++i)
    if (outcomes[0].has_answer(i) && outcomes[1].has_answer(i) &&
        (first_difference(batch, outcomes[0].results, outcomes[1].results, i) >= 0 ||
         (have_flags && !same_flags(batch, i, outcomes[0].flags[i], outcomes[1].flags[i]))))
      differing.append(batch, i);
  return differing;
}

bool is_safe_here(const std::string& unit) {
  const Role role = registry().role_of(unit);
  return !is_of_this_machine(role) || role == Role::silicon;
}

std::optional<Op> op_of_witness(const Bucket& bucket) {
  CaseReader reader("witness", bucket.witness);
  CaseBlock block;
  return reader.next(block, 1) ? std::optional(block.batch.op()) : std::nullopt;
}

LoggedDivergence logged(const Divergence& d) { return {d.key.to_string(), d.severity, divergence_record(d)}; }

LoggedDivergence logged_difference(const Judge& judge, const Batch& single, const Verdict& verdict) {
  return logged(make_divergence("equal", Severity::semantic, single, 0, verdict.cls, judge.units()[0]->name(),
                                verdict.first, judge.units()[1]->name(), verdict.second, verdict.element));
}

}  // namespace mmafuzz
