#include "triage/facts/conclusions.h"

#include "core/text.h"
#include "oracles/models/parameters.h"
#include "triage/facts/fact_name.h"
#include "core/registry.h"
#include "triage/replacements.h"

namespace mmafuzz {
namespace {

constexpr size_t max_examples = 4;  ///< limit of Expectation::shown_by

/// A unit of a FactField, and the row that the unit is or claims to equal; nullptr where it has none.
struct Compared {
  std::unique_ptr<Unit> unit, row;
  bool is_row() const { return unit->model() != nullptr; }
  const DotModel* model() const { return row ? row->model() : nullptr; }
};

std::vector<Compared> bound(const Registry& registry, const Op& op, const std::vector<std::string>& names) {
  std::vector<Compared> all;
  for (const std::string& name : names) {
    std::unique_ptr<Unit> unit = bound_or_null(registry, name, op);
    if (!unit) continue;
    std::unique_ptr<Unit> row = bound_or_null(registry, row_name_of(*unit, op, registry), op);
    all.push_back({std::move(unit), std::move(row)});
  }
  return all;
}

/// Pairs of rows that differ in `r` only: the first row with all other replacements beside the second row; the first
/// row with `r` replaced beside the first row itself.
std::vector<std::pair<std::string, std::string>> differing_alone(const std::vector<Replacement>& all,
                                                                 const Replacement& r, const Compared& x,
                                                                 const Compared& y) {
  const std::string row = x.row->name();
  std::vector<std::pair<std::string, std::string>> alone;
  if (y.row) {
    std::string others;
    for (const Replacement& other : all)
      if (other.name != r.name) others += (others.empty() ? "" : ",") + other.overrides[0];
    alone.emplace_back(others.empty() ? row : with_overrides_in_name(row, others), y.row->name());
  }
  for (const std::string& overrides : r.overrides) alone.emplace_back(with_overrides_in_name(row, overrides), row);
  return alone;
}

/// Whether two rows of instructions of different lengths differ only in whether an instruction keeps the sign of a zero
/// that it gets as c: operands that show that are too rare to be expected.
bool differ_in_zero_signs_alone(DotModel x, DotModel y) {
  x.zero_operands = y.zero_operands = ZeroOperands::kept;
  return products_per_call(x) == products_per_call(y);
}

}  // namespace

std::string RowDifference::text() const { return first + " and " + second + " on " + op_label(op); }

std::map<std::string, Expectation> expected_facts(const Registry& registry, const std::vector<FactField>& fields) {
  std::map<std::string, Expectation> expected;
  for (const auto& [op, names] : fields) {
    if (op.kind != OpKind::dot) continue;
    const std::vector<Compared> units = bound(registry, op, names);
    const auto add = [&, &op = op](const std::vector<Replacement>& all, const Compared& x, const Compared& y) {
      const bool are_rows = x.is_row() && y.is_row();
      for (const Replacement& r : all) {
        if (r.name == "kernel") continue;
        const Parameter* p = find_parameter(r.name);
        const bool is_any_nan = p && only_selects_nans(*p) && op.nan == NanPolicy::any;
        const bool never = are_rows && (is_any_nan || never_shows(r.name, *x.model(), *y.model()));
        const bool is_too_rare = are_rows && r.name == "k" && differ_in_zero_signs_alone(*x.model(), *y.model());
        const bool is_required = are_rows && !never && !is_too_rare;
        Expectation& e = expected[difference_fact(r.name, r.first, r.second)];
        if (is_required && !e.is_required) e = {.is_required = true};
        e.is_hidden |= never && r.name != "k" && !e.is_required;  // `k` that never shows is only a name
        if (e.is_required == is_required && e.shown_by.size() < max_examples)
          e.shown_by.push_back({op, x.unit->name(), y.unit->name(), differing_alone(all, r, x, y)});
      }
    };
    for (size_t i = 0; i < units.size(); ++i)
      for (size_t j = i + 1; j < units.size(); ++j) {
        const Compared &x = units[i], &y = units[j];
        const DotModel *a = x.model(), *b = y.model();
        if (a && b) add(replacements(*a, *b), x, y);
        if (a && !b && is_reference(*y.unit)) add(replacements_by_exact(*a, op), x, y);
        if (b && !a && is_reference(*x.unit)) add(replacements_by_exact(*b, op), y, x);
      }
  }
  return expected;
}

Conclusions conclude(const std::vector<Bucket>& buckets, const Knowledge& knowledge,
                     const std::map<std::string, Expectation>& expected, const std::set<std::string>& seen_before) {
  Conclusions all;
  std::set<std::string> seen;  // names of facts and of the parts of combinations
  std::set<std::string> shown_alone = knowledge.names();
  shown_alone.insert(seen_before.begin(), seen_before.end());
  for (Fact& fact : facts_of(buckets, shown_alone)) {
    bool is_impossible = false;
    for (const std::string& part : words_of(fact.name, '+')) {
      seen.insert(part);
      is_impossible |= !expected.empty() && is_about_rows(part) && !expected.count(part);
    }
    const KnownFact* known = knowledge.find(fact.name);
    const bool is_known = knowledge.knows(fact);
    if (known && (is_known || !known->is_seen)) fact.reason = known->reason;
    fact.is_contradiction |= is_impossible || (known && !known->is_seen);
    const bool is_no_news = !fact.is_contradiction && (seen_before.count(fact.name) || is_implied(fact.name));
    if (fact.is_accepted || is_no_news || is_known) all.confirmed.push_back(std::move(fact));
    else (fact.is_contradiction ? all.contradictions : all.fresh).push_back(std::move(fact));
  }
  for (const auto& [name, expectation] : expected) {
    const KnownFact* known = knowledge.find(name);
    const bool is_known_unseen = known && !known->is_seen;
    if (expectation.is_required && !is_known_unseen && !seen.count(name))
      all.unseen.emplace_back(name, expectation.shown_by[0].text());
  }
  return all;
}

}  // namespace mmafuzz
