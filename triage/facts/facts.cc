#include "triage/facts/facts.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/unit_name.h"
#include "core/text.h"
#include "oracles/models/gpu_names.h"
#include "oracles/models/model_rows.h"
#include "oracles/models/parameters.h"
#include "oracles/properties/properties.h"
#include "triage/facts/fact_name.h"
#include "triage/kernel_steps.h"
#include "triage/op_variants.h"
#include "triage/product_causes.h"

namespace mmafuzz {
namespace {

constexpr char plus = '+';  ///< between the parts of a combination's name
constexpr int greatest_strangeness = 3;
constexpr size_t tried_ops = 2;  ///< ops per fact, as the simplest case found need not have the simplest normal form

/// Names of the facts that a bucket counts for. `shown_alone`: those that some bucket shows alone. One that
/// is_implied() counts in any case, so that the combinations that a search happens to find do not name facts.
std::vector<std::string> facts_shown_by(const Bucket& bucket, const std::set<std::string>& shown_alone) {
  if (bucket.facts.empty()) return {bucket.cause};  // a bucket of an older store
  const bool divides = std::all_of(bucket.facts.begin(), bucket.facts.end(), [&](const std::string& fact) {
    return shown_alone.count(fact) || is_implied(fact);
  });
  if (divides) return bucket.facts;
  return {joined(bucket.facts, {&plus, 1})};
}

/// Lower for classes that tell more: ordinary numbers 0, NaNs and overflows 1, zero signs 2 (though of fewest addends).
int strangeness_of(const std::string& value_class) {
  if (value_class == name_of(ValueClass::zero_sign)) return 2;
  return value_class == name_of(ValueClass::special) || value_class == name_of(ValueClass::overflow) ? 1 : 0;
}

/// strangeness() without regard to the number of addends, for a witness that is not minimized yet.
int strangeness_if_short(const Bucket& bucket) {
  if (bucket.witness.empty() || bucket.facts.size() != 1) return greatest_strangeness;
  if (strangeness_of(bucket.key.value_class)) return 2;
  const std::vector<std::string>& units = bucket.key.units;
  const bool of_gpus = units.size() == 2 && std::all_of(units.begin(), units.end(), gpu_of_unit);
  return of_gpus ? 0 : 1;
}

bool is_simpler(const Bucket& x, const Bucket& y) {
  const auto rank = [](const Bucket& b) {
    return std::make_tuple(b.witness.empty(), b.facts.size(), strangeness_of(b.key.value_class), b.addends,
                           !is_minimized(b), b.witness.size() - (b.detail.size() - without_extents(b.detail).size()),
                           std::tie(b.witness));
  };
  return rank(x) < rank(y);
}

/// Whether x shows its fact better than y: graver, then simpler.
bool shows_better(const Bucket& x, const Bucket& y) {
  return x.severity != y.severity ? x.severity < y.severity : is_simpler(x, y);
}

/// Adds to `shown_alone` the facts that some bucket shows alone.
void add_shown_alone(const std::vector<Bucket>& buckets, std::set<std::string>& shown_alone) {
  for (const Bucket& bucket : buckets)
    if (bucket.facts.size() == 1) shown_alone.insert(bucket.facts[0]);
}

/// "hopper" for "model:hopper/mma..."; the name without settings of other units.
std::string family_of(const std::string& unit) {
  const UnitName name(unit);
  const size_t slash = name.path.find('/');
  return name.backend == "model" && slash != std::string::npos ? name.path.substr(0, slash) : name.plain();
}

std::string families(const std::set<std::string>& units) {
  constexpr size_t shown = 6;
  std::set<std::string> names;
  for (const std::string& unit : units) names.insert(family_of(unit));
  return joined(names, ", ", shown);
}

/// Names of those units that are instructions of this CPU.
std::string processors(const std::set<std::string>& units) {
  std::set<std::string> names;
  for (const std::string& unit : units)
    if (UnitName(unit).backend == "cpu") names.insert(unit);
  return families(names);
}

/// A parameter's value in the row of a unit, as text; empty for a unit without a row. The kernel of `exact` is an exact
/// sum.
std::string value_in(const std::string& unit, const Parameter& parameter) {
  const UnitName name(unit);
  if (name.backend == "exact" && parameter.name == std::string_view("kernel")) return exact_kernel;
  const ModelRow* row = name.backend == "model" ? find_model_row(name.path) : nullptr;
  return row ? parameter_text(parameter, row->model) : "";
}

/// "24 (ampere, turing)"
std::string value_with_families(const std::string& value, const Parameter* parameter,
                                const std::set<std::string>& units) {
  std::set<std::string> holders;
  for (const std::string& unit : units)
    if (parameter && value_in(unit, *parameter) == value) holders.insert(unit);
  return holders.empty() ? value : value + " (" + families(holders) + ")";
}

/// "exact_sum (cdna1) adds c and ..."
std::string what_it_does(const std::string& arithmetic, const Parameter* kernel, const std::set<std::string>& units) {
  const std::string does = what_arithmetic_does(arithmetic);
  const std::string who = value_with_families(arithmetic, kernel, units);
  return does.empty() ? who + " computes in its own way" : who + " " + does;
}

std::string sentence_of_one(const std::string& name, const std::set<std::string>& units, const Bucket& best) {
  const FactParts parts = parts_of_fact(name);
  switch (parts.kind) {
    case FactParts::Kind::claim: {
      const std::string more = best.detail.empty() || !is_strange(best.cause) ? "" : ": " + best.detail;
      return parts.first +
             (best.key.property == "equals_model" && best.key.units.size() == 2
                  ? " differs from " + best.key.units[1] + ", which it claims to equal"
              : best.key.units.size() == 2     ? " gives results that its parameters do not explain"
              : best.key.property == "answers" ? " breaks on some cases"
                                               : " breaks its claim " + best.key.property) +
             more;
    }
    case FactParts::Kind::property: {
      const Property* property = find_property(parts.subject);
      const std::string who = families(units);
      return who + (who == parts.first ? "" : " (" + parts.first + ")") + ": not " + parts.subject +
             (property ? std::string(" (") + property->statement() + ")" : "");
    }
    case FactParts::Kind::difference: break;
  }
  const Parameter* parameter = find_parameter(parts.subject);
  std::string meaning = parameter ? parameter->meaning : OpVariants::meaning(parts.subject);
  if (meaning.empty()) meaning = meaning_of_scheme_word(parts.subject);
  if (parts.subject == nan_payload)
    return "a NaN result: of the operands' payloads or, without one, the processor's own (" + processors(units) +
           ") against one for all";
  if (parts.first.empty()) return parts.subject + (meaning.empty() ? "" : ": " + meaning);
  if (parts.subject == "kernel") {
    const size_t steps = best.detail.find(on_this_case);
    const size_t end = without_extents(best.detail).size();
    return what_it_does(parts.first, parameter, units) + "; " + what_it_does(parts.second, parameter, units) +
           (steps == std::string::npos ? "" : "; " + best.detail.substr(steps, end - steps));
  }
  return (meaning.empty() ? parts.subject : meaning) + ": " + value_with_families(parts.first, parameter, units) +
         " against " + value_with_families(parts.second, parameter, units);
}

/// Number of case lines of a witness, which are all lines after its op line.
size_t cases_in(const std::string& witness) {
  const size_t op = witness.find("\nop ");
  if (op == std::string::npos) return 0;
  return static_cast<size_t>(
      std::count(witness.begin() + static_cast<std::ptrdiff_t>(witness.find('\n', op + 1)) + 1, witness.end(), '\n'));
}

}  // namespace

int strangeness(const Bucket& bucket) {
  constexpr uint64_t max_addends = 4;
  return bucket.addends > max_addends ? greatest_strangeness : strangeness_if_short(bucket);
}

bool is_about_rows(const std::string& name) {
  const FactParts parts = parts_of_fact(name);
  return parts.kind == FactParts::Kind::difference && find_parameter(parts.subject) && parts.subject != "kernel";
}

bool is_implied(const std::string& name) {
  const FactParts parts = parts_of_fact(name);
  const bool of_kernels =
      parts.subject == "kernel" && !what_kernel_does(parts.first).empty() && !what_kernel_does(parts.second).empty();
  return is_about_rows(name) || of_kernels || is_scheme_setting(parts.subject);
}

std::vector<Fact> facts_of(const std::vector<Bucket>& buckets, std::set<std::string> shown_alone) {
  add_shown_alone(buckets, shown_alone);
  std::map<std::string, Fact> by_name;
  std::map<std::string, std::set<std::vector<std::string>>> pairs;
  for (const Bucket& bucket : buckets) {
    for (const std::string& name : facts_shown_by(bucket, shown_alone)) {
      const auto [at, is_new] = by_name.try_emplace(name);
      Fact& fact = at->second;
      if (is_new) {
        fact.name = name;
        fact.is_accepted = true;
        fact.first_seen = bucket.first_seen;
        fact.best = fact.telling = bucket;
      }
      fact.first_seen = std::min(fact.first_seen, bucket.first_seen);
      fact.severity = std::min(fact.severity, bucket.severity);
      fact.is_contradiction |= is_claim_fact(name);
      fact.is_accepted &= is_accepted(bucket);
      fact.divergences += bucket.count;
      fact.units.insert(bucket.key.units.begin(), bucket.key.units.end());
      fact.ops.insert(bucket.key.op);
      fact.buckets.push_back(bucket.id());
      pairs[name].insert(bucket.key.units);
      if (shows_better(bucket, fact.best)) fact.best = bucket;
      const auto rank = [](const Bucket& b) { return std::make_pair(strangeness(b), !is_minimized(b)); };
      const auto of_bucket = rank(bucket), of_telling = rank(fact.telling);
      if (of_bucket < of_telling || (of_bucket == of_telling && is_simpler(bucket, fact.telling)))
        fact.telling = bucket;
    }
  }
  std::vector<Fact> all;
  for (auto& [name, fact] : by_name) {
    const size_t compared = fact.best.key.units.size();  // buckets of a broken claim may have one unit or two
    fact.pairs = static_cast<size_t>(std::count_if(pairs[name].begin(), pairs[name].end(),
                                                   [&](const auto& units) { return units.size() == compared; }));
    all.push_back(std::move(fact));
  }
  std::stable_sort(all.begin(), all.end(), [](const Fact& x, const Fact& y) {
    return std::make_tuple(!x.is_contradiction, x.severity) < std::make_tuple(!y.is_contradiction, y.severity);
  });
  return all;
}

bool breaks_claim(const Bucket& bucket) {
  return bucket.severity == Severity::contract || std::any_of(bucket.facts.begin(), bucket.facts.end(), is_claim_fact);
}

std::set<std::string> simplest_of_each_fact(const std::vector<Bucket>& buckets) {
  std::set<std::string> shown_alone;
  add_shown_alone(buckets, shown_alone);
  std::map<std::string, std::map<std::string, const Bucket*>> best_on_ops;  // by fact
  std::map<std::string, const Bucket*> telling;
  std::set<std::string> ids;
  for (const Bucket& bucket : buckets) {
    if (bucket.witness.empty()) continue;
    for (const std::string& name : facts_shown_by(bucket, shown_alone)) {
      const Bucket*& best = best_on_ops[name][bucket.key.op];
      if (!best || shows_better(bucket, *best)) best = &bucket;
      const Bucket*& most_telling = telling[name];
      const int of_bucket = strangeness_if_short(bucket);
      const int of_telling = most_telling ? strangeness_if_short(*most_telling) : greatest_strangeness;
      if (of_bucket < of_telling || (most_telling && of_bucket == of_telling && is_simpler(bucket, *most_telling)))
        most_telling = &bucket;
    }
  }
  for (const auto& [name, bucket] : telling)
    if (bucket) ids.insert(bucket->id());
  for (const auto& [name, on_ops] : best_on_ops) {
    std::vector<const Bucket*> best;
    for (const auto& [op, bucket] : on_ops) best.push_back(bucket);
    std::sort(best.begin(), best.end(), [](const Bucket* x, const Bucket* y) { return shows_better(*x, *y); });
    if (!is_claim_fact(name)) best.resize(std::min(best.size(), tried_ops));
    for (const Bucket* bucket : best) ids.insert(bucket->id());
  }
  return ids;
}

std::string what_arithmetic_does(const std::string& arithmetic) {
  if (arithmetic == "exact") return "rounds the exact result once";
  if (arithmetic == "ieee") return "rounds every addition as IEEE 754 does";
  if (arithmetic == "ieee:serial") return "rounds each product and adds them to c in order, each time rounded";
  if (arithmetic == "ieee:fma") return "adds one exact product at a time to c, each time rounded";
  if (arithmetic == "ieee:pairwise") return "rounds each product, adds them by halves and c last, each rounded";
  if (arithmetic == "ozaki") return "cuts operands into slices and sums exact products of slices";
  if (arithmetic == "split") return "adds the products of two narrow parts of each operand";
  return what_kernel_does(arithmetic);
}

std::string sentence(const Fact& fact) {
  if (is_claim_fact(fact.name)) return sentence_of_one(fact.name, fact.units, fact.best);
  std::string text;
  for (const std::string& part : words_of(fact.name, plus))
    text += (text.empty() ? "" : ", and ") + sentence_of_one(part, fact.units, fact.best);
  return text;
}

std::string evidence(const Fact& fact) {
  const auto some = [](size_t n, const std::string& noun) { return n == 0 ? "no " + noun : counted(n, noun); };
  const bool is_of_one = fact.best.key.units.size() == 1;
  const std::string size = is_of_sequence(fact.best.cause) ? some(cases_in(fact.best.witness), "case")
                                                           : some(fact.best.addends, "nonzero addend");
  const std::string extent = extent_of(fact.name, fact.best.detail);
  return (is_of_one ? some(fact.pairs, "unit") : some(fact.pairs, "pair") + " of units") + ", " +
         some(fact.ops.size(), "op") + ", " + size + " in the smallest witness" +
         (extent.empty() ? "" : "; in structured cases " + extent);
}

}  // namespace mmafuzz
