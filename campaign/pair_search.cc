#include "campaign/pair_search.h"

#include "campaign/deepen.h"
#include "core/case_text.h"
#include "core/row_of_unit.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "search/comparison.h"
#include "search/structured_generator.h"
#include "triage/triage.h"
#include "triage/unexplained/unit_without_row.h"

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

/// What holds for all cases around the witness on which a unit without a model differs from a model or reference; ""
/// where the two are no such pair, or agree.
std::string description_of_stranger(const Unit& x, const Unit& y, const std::vector<Fact>& facts) {
  const auto is_known = [](const Unit& unit) { return unit.model() || is_reference(unit); };
  CaseBlock block;
  if (facts.empty() || is_known(x) == is_known(y) || !CaseReader("witness", facts[0].best.witness).next(block, 1))
    return "";
  const std::vector<std::string> units =
      is_known(x) ? std::vector{y.name(), x.name()} : std::vector{x.name(), y.name()};
  const Judge judge = Judge::bound("equal", units, block.batch.op(), registry());  // it may have smaller matrices
  return UnitWithoutRow::can_describe(judge) ? UnitWithoutRow(judge, registry()).describe(block.batch) : "";
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
  answer.of_stranger = description_of_stranger(*x, *y, answer.facts);
  const auto expected = expected_facts(registry(), {{search.op, answer.units}});
  for (const auto& [name, expectation] : expected)
    if (expectation.is_hidden) answer.hidden.push_back(name);
  for (const auto& [name, example] : conclude(buckets, {}, expected).unseen) answer.unseen.push_back(name);
  return answer;
}

}  // namespace mmafuzz
