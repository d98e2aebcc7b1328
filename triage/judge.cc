#include "triage/judge.h"

#include <algorithm>
#include <stdexcept>

#include "core/text.h"
#include "oracles/properties/properties.h"
#include "oracles/units/process_unit.h"

namespace mmafuzz {

Result<Judge> Judge::bind(const std::string& property, const std::vector<std::string>& units, const Op& op,
                          const Registry& registry) {
  Judge judge;
  judge.op_ = op;
  judge.property_ = property;
  for (const std::string& name : units) {
    Result<std::unique_ptr<Unit>> unit = registry.bind(name, op);
    if (!unit) return unit.refusal();
    judge.units_.push_back(std::move(*unit));
  }
  const bool compares = property == "equal" || property == "equals_model";
  const Property* stated = compares ? nullptr : find_property(property);
  if (!compares && !stated) {
    std::string known = "equal, equals_model";
    for (const Property* each : all_properties()) known += std::string(", ") + each->name();
    return unknown("unknown property " + in_quotes(property) + "; known: " + known);
  }
  if (judge.units_.size() != (compares ? 2u : 1u))
    return invalid("property " + property + " takes " + (compares ? "two units" : "one unit"));
  if (compares) return judge;
  Result<BoundProperty> bound = BoundProperty::bind(*stated, *judge.units_[0], op, registry);
  if (!bound) return bound.refusal();
  judge.bound_ = std::make_unique<BoundProperty>(std::move(*bound));
  return judge;
}

Judge Judge::of_units(std::unique_ptr<Unit> first, std::unique_ptr<Unit> second, const Op& op) {
  Judge judge;
  judge.op_ = op;
  judge.property_ = "equal";
  judge.units_.push_back(std::move(first));
  judge.units_.push_back(std::move(second));
  return judge;
}

Judge Judge::bound(const std::string& property, const std::vector<std::string>& units, const Op& op,
                   const Registry& registry) {
  Result<Judge> judge = bind(property, units, op, registry);
  if (!judge) throw std::runtime_error(judge.refusal().reason);
  return std::move(*judge);
}

std::vector<Verdict> Judge::judge(const Batch& cases) const {
  std::vector<Verdict> verdicts(cases.size());
  const Outcomes first = units_[0]->outcomes_of(cases);
  if (bound_) {
    bound_->judge(cases, first, verdicts);
    return verdicts;
  }
  const Outcomes second = units_[1]->outcomes_of(cases);
  SpecialOperands special(cases);
  const bool have_flags = !first.flags.empty() && !second.flags.empty();
  for (size_t i = 0; i < cases.size(); ++i) {
    if (!first.has_answer(i) || !second.has_answer(i)) continue;
    Verdict& v = verdicts[i];
    v.compared = true;
    const int difference = first_difference(cases, first.results, second.results, i);
    v.element = std::max(difference, 0);
    v.first = first.results.get(i, v.element);
    v.second = second.results.get(i, v.element);
    if (difference < 0 && (!have_flags || same_flags(cases, i, first.flags[i], second.flags[i]))) continue;
    v.fails = true;
    v.cls = v.first == v.second ? ValueClass::flags : value_class(op_, special[i], v.first, v.second, v.element);
  }
  return verdicts;
}

Result<Judge> Judge::bind_anew(const Registry& registry) const {
  std::vector<std::string> names;
  for (const std::unique_ptr<Unit>& unit : units_) names.push_back(begun_anew(unit->name(), registry));
  return bind(property_, names, op_, registry);
}

std::vector<Verdict> Judge::judge_anew(const Batch& cases, const Registry& registry) const {
  const Result<Judge> anew = bind_anew(registry);
  return anew ? anew->judge(cases) : std::vector<Verdict>(cases.size());
}

Verdict Judge::judge_last_anew(const Batch& cases, const Registry& registry) const {
  const Result<Judge> anew = bind_anew(registry);
  if (!anew) return {};
  anew->judge(cases.part(0, cases.size() - 1));
  return anew->judge(cases.part(cases.size() - 1))[0];
}

std::vector<Batch> Judge::changed_cases(const Batch& cases) const {
  if (!bound_ || !bound_->has_plain_changed_case()) return {};
  const Outcomes base = units_[0]->outcomes_of(cases);
  std::vector<Verdict> verdicts;
  std::vector<Batch> changed_cases;
  bound_->judge(cases, base, verdicts, &changed_cases);
  return changed_cases;
}

}  // namespace mmafuzz
