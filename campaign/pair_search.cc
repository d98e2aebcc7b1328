#include "campaign/pair_search.h"

#include "campaign/deepen.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "search/comparison.h"
#include "search/structured_generator.h"
#include "triage/triage.h"

namespace mmafuzz {
namespace {

constexpr size_t counted_cases = 4096;  ///< structured cases on which differences are counted

void count_differences(const PairSearch& search, const Unit& x, const Unit& y, PairAnswer& answer) {
  Batch batch(search.op);
  StructuredGenerator(search.op, search.seed).fill(0, counted_cases, batch);
  Outcomes first, second;
  x.run(batch, first);
  y.run(batch, second);
  answer.answers[x.name()].add(first);
  answer.answers[y.name()].add(second);
  SpecialOperands special(batch);
  const DifferenceTally tally = tally_differences(batch, special, first, second);
  answer.compared = tally.compared;
  for (const uint64_t count : tally.count) answer.differing += count;
}

}  // namespace

PairAnswer search_pair(const PairSearch& search) {
  const std::unique_ptr<Unit> x = bind_or_fail(search.first, search.op), y = bind_or_fail(search.second, search.op);
  PairAnswer answer;
  answer.units = {x->name(), y->name()};
  count_differences(search, *x, *y, answer);
  Triage triage(registry());
  find_differences(triage, search.op, answer.units, search.cases, search.seed);
  const std::vector<Bucket> buckets = triage.finish();
  answer.facts = facts_of(buckets);
  const auto expected = expected_facts(registry(), {{search.op, answer.units}});
  for (const auto& [name, expectation] : expected)
    if (expectation.is_hidden) answer.hidden.push_back(name);
  for (const auto& [name, example] : conclude(buckets, {}, expected).unseen) answer.unseen.push_back(name);
  return answer;
}

}  // namespace mmafuzz
