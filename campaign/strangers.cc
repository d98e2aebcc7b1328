#include "campaign/strangers.h"

#include <fmt/core.h>

#include <algorithm>

#include "campaign/panel.h"
#include "core/answers.h"
#include "core/row_of_unit.h"
#include "core/text.h"
#include "plan/registry.h"
#include "triage/facts/facts.h"
#include "core/registry.h"

namespace mmafuzz {

std::vector<Stranger> strangers_of(const Plan& plan, const std::vector<std::string>& units) {
  std::vector<Stranger> all;
  for (const Assignment& assignment : plan.assignments) {
    if (!assignment.op || assignment.op->kind != OpKind::dot) continue;
    for (const std::string& name : units_of(units, *assignment.op)) {
      const bool is_told =
          std::any_of(all.begin(), all.end(), [&](const Stranger& stranger) { return stranger.unit == name; });
      if (is_told || !is_of_this_machine(registry().role_of(name))) continue;
      const std::unique_ptr<Unit> unit = bound_or_null(registry(), name, *assignment.op);
      if (unit && is_stranger(*unit) && !unit->claim("equals_model")) all.push_back({name, *assignment.op});
    }
  }
  return all;
}

std::string likeness(const std::string& unit, const std::string& other, const Batch& cases) {
  const auto results_of = [&](const std::string& name) {
    Outcomes outcomes;
    if (const std::unique_ptr<Unit> bound = bound_or_null(registry(), name, cases.op())) bound->run(cases, outcomes);
    return outcomes;
  };
  const Outcomes of_unit = results_of(unit), of_other = results_of(other);
  const auto agrees_with = [&](const Outcomes& x, size_t i) {
    return of_unit.has_answer(i) && x.has_answer(i) && first_difference(cases, of_unit.results, x.results, i) < 0;
  };
  AnswerCount answers;
  answers.add(of_unit);
  std::vector<size_t> differing;
  for (size_t i = 0; i < cases.size(); ++i)
    if (of_unit.has_answer(i) && of_other.has_answer(i) && !agrees_with(of_other, i)) differing.push_back(i);
  std::vector<std::pair<size_t, std::string>> orders;  // on how many differing cases each agrees, and its name
  std::pair<size_t, std::string> nearest;              // the row that agrees on most of all cases
  for (const std::string& name : registry().searched_by_default(cases.op())) {
    const Role role = registry().role_of(name);
    if (name == other || (role != Role::ieee && role != Role::exact && role != Role::model)) continue;
    const Outcomes outcomes = results_of(name);
    const auto agrees = [&](size_t i) { return agrees_with(outcomes, i); };
    if (role != Role::model) {
      orders.emplace_back(std::count_if(differing.begin(), differing.end(), agrees), name);
      continue;
    }
    size_t agreeing = 0;
    for (size_t i = 0; i < cases.size(); ++i) agreeing += agrees(i);
    if (agreeing > nearest.first) nearest = {agreeing, name};
  }
  std::stable_sort(orders.begin(), orders.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
  std::vector<std::string> parts;
  for (const auto& [count, name] : orders) {
    const std::string does = parts.empty() ? what_arithmetic_does(name) : "";
    parts.push_back(fmt::format("{}{} on {}", name, does.empty() ? "" : " (" + does + ")", count));
  }
  if (!parts.empty()) parts[0] = fmt::format("of these {} cases {} gives what {}", differing.size(), unit, parts[0]);
  if (nearest.first)
    parts.push_back(fmt::format("the nearest row is {} with the same result on {} of all that it answered",
                                nearest.second, percent(nearest.first, answers.answered)));
  return joined(parts, ", ");
}

}  // namespace mmafuzz
