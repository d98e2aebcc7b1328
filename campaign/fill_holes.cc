#include "campaign/fill_holes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "campaign/differing_cases.h"
#include "core/parallel.h"
#include "core/row_of_unit.h"
#include "core/text.h"
#include "plan/registry.h"
#include "search/comparison.h"
#include "search/structured_generator.h"
#include "triage/facts/fact_name.h"

namespace mmafuzz {
namespace {

/// Rounds of a search for a parameter on a pair of units: where the parameter must show, and where it only can, because
/// references leave much hidden.
constexpr uint64_t rounds_of_required = 16, rounds_of_possible = 4;
constexpr size_t max_candidates = 64;    ///< differing cases of such a search whose causes are sought
constexpr size_t property_cases = 4096;  ///< on each op
constexpr int max_products = 1 << 18;    ///< multiplications in all cases of an op

/// The names of the facts that buckets show, with combinations divided into their parts.
std::set<std::string> shown_by(const std::vector<Bucket>& buckets) {
  std::set<std::string> shown;
  for (const Fact& fact : facts_of(buckets))
    for (const std::string& part : words_of(fact.name, '+')) shown.insert(part);
  return shown;
}

/// A case on which two units differ by a parameter, the one of the fact `name`. Candidates are cases on which rows
/// differ that differ in it alone: few other cases can show it.
std::optional<LoggedDivergence> find_on_pair(const std::string& name, const RowDifference& difference,
                                             uint64_t rounds) {
  const Op& op = difference.op;
  for (const auto& [first, second] : difference.rows_differing_alone) {
    if (!registry().bind(first, op) || !registry().bind(second, op)) continue;
    const Result<Judge> judge = Judge::bind("equal", {difference.first, difference.second}, op, registry());
    if (!judge) return {};
    Causes causes(*judge, registry());
    DifferingCases cases(op, {first, second}, 1);
    std::optional<LoggedDivergence> with_other_facts;
    size_t looked_at = 0;
    for (uint64_t round = 0; round < rounds && looked_at < max_candidates; ++round) {
      const Batch differing = cases.next();
      const std::vector<Verdict> verdicts = judge->judge(differing);
      for (size_t i = 0; i < differing.size() && looked_at < max_candidates; ++i) {
        if (!verdicts[i].fails) continue;
        ++looked_at;
        const Batch single = differing.part(i);
        const std::vector<std::string> facts = causes.facts(causes.find(single, {verdicts[i]})[0]);
        if (std::find(facts.begin(), facts.end(), name) == facts.end()) continue;
        const LoggedDivergence found = logged_difference(*judge, single, verdicts[i]);
        if (facts.size() == 1) return found;
        if (!with_other_facts) with_other_facts = found;
      }
    }
    if (with_other_facts) return with_other_facts;
  }
  return {};
}

/// Of an op, by kind of arithmetic: one unit of that kind, and the properties that nothing was seen to break.
struct OpenProperties {
  Op op;
  std::map<std::string, std::pair<std::string, Comparison::Properties>> by_kind;
};

/// Cases on which these units break properties that they do not claim, one for each unit and property.
std::vector<LoggedDivergence> find_breaks(const OpenProperties& open) {
  const Op& op = open.op;
  const int products_of_case = op.kind == OpKind::gemm ? op.m * op.n * op.k : 1;
  const size_t cases = std::min(property_cases, static_cast<size_t>(std::max(1, max_products / products_of_case)));
  Batch batch(op);
  StructuredGenerator(op, 1).fill(0, cases, batch);
  std::vector<LoggedDivergence> found;
  for (const auto& [kind, unit_and_properties] : open.by_kind) {
    const auto& [unit, properties] = unit_and_properties;
    const Comparison comparison(op, {unit}, registry(), properties);
    std::vector<const BoundProperty*> unclaimed;
    for (const BoundProperty& property : comparison.properties_of(0))
      if (!property.is_free() && property.severity() != Severity::contract)  // every search checks claims
        unclaimed.push_back(&property);
    if (unclaimed.empty()) continue;
    std::vector<Outcomes> outcomes;
    comparison.run(batch, outcomes);
    for (const BoundProperty* property : unclaimed) {
      bool is_broken = false;
      property->check(batch, outcomes[0], [&](const Divergence& d, uint64_t) {
        if (!is_broken) found.push_back(logged(d));
        is_broken = true;
      });
    }
  }
  return found;
}

/// A divergence that shows a parameter which must or can show according to the rows and which no bucket names.
std::vector<LoggedDivergence> find_difference(const std::string& name, const Expectation& expectation) {
  const uint64_t rounds = expectation.is_required ? rounds_of_required : rounds_of_possible;
  for (const RowDifference& difference : expectation.shown_by) {
    if (!is_safe_here(difference.first) || !is_safe_here(difference.second)) continue;
    if (const std::optional<LoggedDivergence> found = find_on_pair(name, difference, rounds)) return {*found};
  }
  return {};
}

/// The kind of arithmetic under whose name a unit's broken properties are counted; each setting of a scheme is its own.
std::string kind_of(const Unit& unit, const Op& op) {
  if (unit.role() == Role::scheme) return unit.name();
  if (op.kind != OpKind::dot && op.kind != OpKind::gemm) return operation_of(unit);
  const std::unique_ptr<Unit> row = bound_or_null(registry(), row_name_of(unit, op, registry()), op);
  return arithmetic_of(unit, row ? row->model() : nullptr);
}

using Search = std::function<std::vector<LoggedDivergence>()>;

/// The searches for what no bucket shows.
std::vector<Search> holes_of(const std::vector<Bucket>& buckets, const Plan& plan,
                             const std::vector<std::string>& patterns,
                             const std::map<std::string, Expectation>& expected) {
  const std::set<std::string> shown = shown_by(buckets);
  std::set<std::pair<std::string, std::string>> broken;  // property and unit
  for (const Bucket& b : buckets)
    if (b.key.units.size() == 1) broken.insert({b.key.property, b.key.units[0]});
  std::vector<Search> holes;
  std::map<std::string, std::pair<Op, Comparison::Properties>> ops;  // by op line: the properties of all its targets
  for (const Assignment& assignment : plan.assignments) {
    if (!assignment.op) continue;
    const Op& op = *assignment.op;
    Comparison::Properties& known = ops.try_emplace(to_text(op), op, Comparison::Properties{}).first->second.second;
    for (const Property* property : properties_of(*assignment.target))
      if (std::find(known.begin(), known.end(), property) == known.end()) known.push_back(property);
  }
  for (const auto& [text, op_and_properties] : ops) {
    OpenProperties open{op_and_properties.first, {}};
    for (const std::string& name : units_of(patterns, open.op)) {
      const Result<std::unique_ptr<Unit>> unit = registry().bind(name, open.op);
      if (!unit || !is_safe_here(name)) continue;
      const std::string kind = kind_of(**unit, open.op);
      Comparison::Properties properties;
      for (const Property* property : op_and_properties.second)
        if (!shown.count(property_fact(property->name(), kind)) && !broken.count({property->name(), name}))
          properties.push_back(property);
      if (!properties.empty()) open.by_kind.try_emplace(kind, name, properties);
    }
    if (!open.by_kind.empty()) holes.push_back([open] { return find_breaks(open); });
  }
  for (const auto& [name, expectation] : expected)
    if (!shown.count(name))
      holes.push_back([name = name, expectation = expectation] { return find_difference(name, expectation); });
  return holes;
}

}  // namespace

size_t fill_holes(Triage& triage, const std::vector<Bucket>& buckets, const Plan& plan,
                  const std::vector<std::string>& units, const std::map<std::string, Expectation>& expected,
                  unsigned jobs, const std::function<bool()>& goes_on) {
  const std::vector<Search> holes = holes_of(buckets, plan, units, expected);
  std::vector<std::vector<LoggedDivergence>> found(holes.size());
  in_parallel(jobs, holes.size(), [&](size_t i) {
    if (goes_on()) found[i] = holes[i]();
  });
  size_t count = 0;
  for (const std::vector<LoggedDivergence>& divergences : found) {
    for (const LoggedDivergence& divergence : divergences) triage.add(divergence);
    count += divergences.size();
  }
  return count;
}

}  // namespace mmafuzz
