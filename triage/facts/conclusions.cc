#include "triage/facts/conclusions.h"

#include <algorithm>

#include "core/words.h"
#include "oracles/models/parameters.h"
#include "triage/facts/fact_name.h"
#include "triage/replacements.h"

namespace mmafuzz {
std::map<std::string, Expectation> expected_facts(const Registry& registry, const std::vector<FactField>& fields) {
  std::map<std::string, Expectation> expected;
  for (const auto& [op, names] : fields) {
    if (op.kind != OpKind::dot) continue;
    std::vector<std::unique_ptr<Unit>> units;
    for (const std::string& name : names)
      if (Result<std::unique_ptr<Unit>> unit = registry.bind(name, op)) units.push_back(std::move(*unit));
    const auto add_all = [&, &op = op](const std::vector<Replacement>& list, bool must, const Unit& x, const Unit& y) {
      for (const Replacement& r : list) {
        // Where products are summed block by block, it does not matter how many blocks are one instruction.
        const bool only_a_name = r.name == "k" && find_parameter("block")->used_by(x.model()->kernel);
        if (r.name == "kernel") continue;
        Expectation& e = expected[difference_fact(r.name, r.first, r.second)];
        const bool shows = must && !only_a_name;
        if (e.example.empty() || (shows && !e.must)) e = {shows, x.name() + " and " + y.name() + " on " + op_label(op)};
      }
    };
    for (size_t i = 0; i < units.size(); ++i) {
      for (size_t j = i + 1; j < units.size(); ++j) {
        const Unit &x = *units[i], &y = *units[j];
        const DotModel *a = x.model(), *b = y.model();
        if (a && b) add_all(replacements(*a, *b), true, x, y);
        if (a && !b && is_reference(y)) add_all(replacements_by_exact(*a, op), false, x, y);
        if (b && !a && is_reference(x)) add_all(replacements_by_exact(*b, op), false, y, x);
      }
    }
  }
  return expected;
}

Conclusions conclude(const std::vector<Bucket>& buckets, const Knowledge& knowledge,
                     const std::map<std::string, Expectation>& expected, const std::set<std::string>& seen_before) {
  Conclusions all;
  std::set<std::string> seen;
  std::set<std::string> shown_alone = knowledge.names();
  shown_alone.insert(seen_before.begin(), seen_before.end());
  for (Fact& fact : facts_of(buckets, shown_alone)) {
    bool impossible = false;
    for (const std::string& part : words_of(fact.name, '+')) {
      seen.insert(part);
      impossible |= !expected.empty() && is_about_rows(part) && !expected.count(part);
    }
    const KnownFact* known = knowledge.find(fact.name);
    fact.contradiction |= impossible || (known && !known->seen);
    const bool not_new = !fact.contradiction && (seen_before.count(fact.name) || is_implied(fact.name));
    if (fact.decided || not_new || (known && known->seen)) all.confirmed.push_back(std::move(fact));
    else (fact.contradiction ? all.contradictions : all.fresh).push_back(std::move(fact));
  }
  for (const auto& [name, expectation] : expected) {
    const KnownFact* known = knowledge.find(name);
    const bool impossible = known && !known->seen;
    if (expectation.must && !impossible && !seen.count(name)) all.unseen.emplace_back(name, expectation.example);
  }
  return all;
}

}  // namespace mmafuzz
