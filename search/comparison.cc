#include "search/comparison.h"

#include <algorithm>
#include <stdexcept>

#include "arithmetic/bins.h"
#include "core/case_text.h"
#include "core/contradiction.h"
#include "core/row_of_unit.h"
#include "core/ulps.h"

namespace mmafuzz {
namespace {

constexpr size_t property_share = 8;  ///< one case in this many is checked for the properties of each unit
constexpr size_t slow_share = 256;    ///< one case in this many goes to the slow twins and the referee

/// The bit of a role in the coverage bin that says who agrees with the focus unit.
int bit_of(Role role) { return role == Role::exact ? 1 : role == Role::ieee ? 2 : role == Role::model ? 4 : 8; }

/// Whether a reference is so slow that it gets only a sample of the cases.
bool is_slow(const Unit& unit) { return unit.role() == Role::twin || unit.role() == Role::referee; }

/// Every n-th case of a batch, the first among them.
Batch every_nth(const Batch& batch, size_t n) {
  Batch part(batch.op());
  for (size_t i = 0; i < batch.size(); i += n) part.append(batch, i);
  return part;
}

/// The outcomes of some cases of a batch.
Outcomes outcomes_of(const Outcomes& all, const std::vector<size_t>& chosen) {
  Outcomes part;
  part.results = all.results;
  part.results.resize(chosen.size());
  const size_t stride = all.results.stride();
  for (size_t i = 0; i < chosen.size(); ++i) {
    std::memcpy(part.results.data() + i * stride, all.results.data() + chosen[i] * stride, stride);
    if (!all.flags.empty()) part.flags.push_back(all.flags[chosen[i]]);
    if (!all.answered.empty()) part.answered.push_back(all.answered[chosen[i]]);
  }
  return part;
}

/// The outcomes of a unit that is asked for the first `count` cases and for the others apart.
void run_in_two(const Unit& unit, const Batch& batch, size_t count, Outcomes& all) {
  Outcomes rest;
  unit.run(batch.part(0, count), all);
  unit.run(batch.part(count, batch.size() - count), rest);
  const size_t first_bytes = count * all.results.stride();
  all.results.resize(batch.size());
  std::memcpy(all.results.data() + first_bytes, rest.results.data(), (batch.size() - count) * all.results.stride());
  const auto join = [&](std::vector<uint8_t>& first, std::vector<uint8_t>& second, uint8_t usual) {
    if (first.empty() && second.empty()) return;
    first.resize(count, usual);
    second.resize(batch.size() - count, usual);
    first.insert(first.end(), second.begin(), second.end());
  };
  join(all.answered, rest.answered, 1);
  join(all.failed, rest.failed, 0);
  if (all.flags.empty() || rest.flags.empty()) all.flags.clear();
  else join(all.flags, rest.flags, 0);
  if (all.how_failed.empty()) all.how_failed = rest.how_failed;
}

}  // namespace

void Findings::add(Divergence d, uint64_t count) {
  if (d.key.property == "equal") differing[{d.key.units[0], d.key.units[1]}] += count;
  Finding& finding = buckets[d.key];
  if (finding.count == 0) {
    finding.severity = d.severity;
    finding.first = std::move(d);
  }
  finding.count += count;
}

void Findings::add(const Findings& more, const std::function<void(const Finding&)>& new_bucket) {
  cases += more.cases;
  compared += more.compared;
  for (const auto& [pair, count] : more.differing) differing[pair] += count;
  mmafuzz::add(answers, more.answers);
  for (const auto& [key, finding] : more.buckets) {
    const auto [bucket, is_new] = buckets.try_emplace(key, finding);
    if (is_new) new_bucket(finding);
    else bucket->second.count += finding.count;
  }
}

Comparison::Comparison(const Op& op, const std::vector<std::string>& names, const Registry& registry,
                       const Properties& properties)
    : op_(op) {
  for (const std::string& name : names) {
    Result<std::unique_ptr<Unit>> unit = registry.bind(name, op);
    if (!unit) throw std::runtime_error(unit.refusal().reason);
    units_.push_back(std::move(*unit));
  }
  const auto place_of = [&](const std::string& name) -> std::optional<size_t> {
    for (size_t i = 0; i < units_.size(); ++i)
      if (registry.are_one(units_[i]->name(), name, op)) return i;
    return {};
  };
  for (size_t i = 0; i < units_.size(); ++i) {
    if (!units_[i]->model())
      if (const std::optional<size_t> row = place_of(row_name_of(*units_[i], op, registry)); row && *row != i)
        rows_[i] = *row;
    properties_.emplace_back();
    for (const Property* property : units_[i]->is_checked_only_against_its_claim() ? Properties() : properties)
      if (Result<BoundProperty> bound = BoundProperty::bind(*property, *units_[i], op, registry))
        properties_[i].push_back(std::move(*bound));
    std::vector<Claim> claims = units_[i]->claims();
    if (units_[i]->role() == Role::model)
      claims.push_back({"equals_model", UnitName(units_[i]->name()).under("twin").text()});
    for (const Claim& claim : claims) {
      if (claim.property != "equals_model") continue;
      Result<std::unique_ptr<Unit>> reference = registry.bind(claim.detail, op);
      // A claim of a user's own unit is a promise: a claim that cannot be checked must not look kept.
      if (!reference && units_[i]->role() == Role::plugin)
        throw std::runtime_error(units_[i]->name() + " claims to equal '" + claim.detail +
                                 "': " + reference.refusal().reason);
      if (!reference) continue;
      const bool slow = is_slow(**reference);
      const std::optional<size_t> among_units = place_of((*reference)->name());
      contracts_.push_back({i, std::move(*reference), slow, among_units});
    }
  }
  if (Result<std::unique_ptr<Unit>> referee = registry.bind("exact:mpfr", op)) referee_ = std::move(*referee);
}

const DotModel* Comparison::model_of(size_t unit) const {
  if (const DotModel* own = units_[unit]->model()) return own;
  for (const Contract& contract : contracts_)
    if (contract.unit == unit && contract.reference->model()) return contract.reference->model();
  return nullptr;
}

bool Comparison::is_checked_only_by_contract(size_t unit) const {
  if (units_[unit]->is_checked_only_against_its_claim()) return true;
  const auto row = rows_.find(unit);
  return row != rows_.end() && std::any_of(contracts_.begin(), contracts_.end(), [&](const Contract& contract) {
           return contract.unit == unit && contract.among_units == row->second;
         });
}

std::function<bool(size_t)> Comparison::reported_by_its_model(const std::vector<Outcomes>& outcomes, size_t x,
                                                              size_t y) const {
  std::vector<std::pair<const Outcomes*, const Outcomes*>> with_rows;
  for (const size_t unit : {x, y})
    if (const auto row = rows_.find(unit); row != rows_.end() && row->second != x && row->second != y)
      with_rows.emplace_back(&outcomes[unit], &outcomes[row->second]);
  if (with_rows.empty()) return {};
  return [with_rows](size_t index) {
    return std::any_of(with_rows.begin(), with_rows.end(),
                       [&](const auto& both) { return same_outcome(*both.first, *both.second, index); });
  };
}

void Comparison::run(const Batch& batch, std::vector<Outcomes>& outcomes, uint64_t round) const {
  outcomes.resize(units_.size());
  const size_t first = static_cast<size_t>(1 + round / 2 % 63);
  for (size_t i = 0; i < units_.size(); ++i) {
    const Unit& unit = *units_[i];
    if (round % unit.every_nth_batch() == 0) {
      const bool divides = unit.role() == Role::plugin && !unit.is_checked_only_against_its_claim();
      if (divides && round % 2 == 0 && batch.size() > first) run_in_two(unit, batch, first, outcomes[i]);
      else unit.run(batch, outcomes[i]);
    } else {
      outcomes[i] = {};
      outcomes[i].answered.resize(batch.size());  // all marked as not answered
    }
  }
}

void Comparison::count_answers(const std::vector<Outcomes>& outcomes, AnswerCounts& answers) const {
  for (size_t i = 0; i < units_.size(); ++i)
    if (outcomes[i].results.cases() > 0) answers[units_[i]->name()].add(outcomes[i]);
}

void Comparison::check_contracts(const Batch& batch, const std::vector<Outcomes>& outcomes, const Batch& sample,
                                 const std::vector<Outcomes>& sampled, Findings& findings) const {
  const auto report = [&](Divergence d, uint64_t cases) { findings.add(std::move(d), cases); };
  for (const Contract& contract : contracts_) {
    const Batch& cases = contract.slow ? sample : batch;
    const Outcomes expected = contract.reference->outcomes_of(cases);
    findings.answers[contract.reference->name()].add(expected);
    findings.compared += compare_units("equals_model", Severity::contract, cases, units_[contract.unit]->name(),
                                       (contract.slow ? sampled : outcomes)[contract.unit], contract.reference->name(),
                                       expected, report);
  }
}

Findings Comparison::examine(const Batch& batch, uint64_t first) const {
  Findings findings;
  findings.cases = batch.size();
  const auto report = [&](Divergence d, uint64_t cases) { findings.add(std::move(d), cases); };
  const bool refereed = first < refereed_cases;
  const uint64_t round = first / std::max<uint64_t>(batch.size(), 1);
  std::vector<Outcomes> outcomes, sampled;
  run(batch, outcomes, round);
  count_answers(outcomes, findings.answers);
  if (refereed) {
    check_contracts(batch, outcomes, batch, outcomes, findings);
  } else {
    const Batch sample = every_nth(batch, slow_share);
    run(sample, sampled, round);
    check_contracts(batch, outcomes, sample, sampled, findings);
  }
  const Batch for_properties = refereed ? Batch() : every_nth(batch, property_share);
  for (size_t i = 0; i < units_.size(); ++i) {
    Outcomes base;
    if (!refereed && !properties_[i].empty()) units_[i]->run(for_properties, base);
    for (const BoundProperty& property : properties_[i]) {
      const bool all = refereed || property.is_free();
      findings.compared += property.check(all ? batch : for_properties, all ? outcomes[i] : base, report);
    }
  }
  for (size_t i = 0; i < units_.size(); ++i)
    for (size_t j = i + 1; j < units_.size(); ++j) {
      if (units_[i]->is_checked_only_against_its_claim() || units_[j]->is_checked_only_against_its_claim()) continue;
      findings.compared += compare_units("equal", Severity::semantic, batch, units_[i]->name(), outcomes[i],
                                         units_[j]->name(), outcomes[j], report);
    }
  return findings;
}

Findings Comparison::examine_claims(const Batch& batch) const {
  Findings findings;
  findings.cases = batch.size();
  std::vector<Outcomes> outcomes;
  run(batch, outcomes);
  count_answers(outcomes, findings.answers);
  check_contracts(batch, outcomes, batch, outcomes, findings);
  for (size_t i = 0; i < units_.size(); ++i)
    for (const BoundProperty& property : properties_[i])
      if (property.severity() != Severity::semantic)
        findings.compared += property.check(batch, outcomes[i],
                                            [&](Divergence d, uint64_t cases) { findings.add(std::move(d), cases); });
  return findings;
}

size_t Comparison::examine_focus(const Batch& batch, const std::vector<Outcomes>& outcomes, size_t focus,
                                 uint64_t round, SeenClasses& seen, const ReportDivergence& report) const {
  SpecialOperands special(batch);
  size_t compared = 0;
  count_answers(outcomes, seen.answers);
  for (size_t i = 0; i < units_.size(); ++i)
    for (const BoundProperty& property : properties_[i])
      if (property.is_free()) compared += property.check(batch, outcomes[i], report);
  // Reports what is due of a pair: number first * n + second of two of n units, n * n + i of contract i. Differences
  // for which told_already(index) is true are reported of another pair.
  const auto tell = [&](const char* property, Severity severity, const Batch& cases, SpecialOperands& operands,
                        size_t pair, const std::string& first_name, const Outcomes& first,
                        const std::string& second_name, const Outcomes& second,
                        const std::function<bool(size_t)>& told_already = {}) {
    const DifferenceTally tally = tally_differences(cases, operands, first, second, told_already);
    compared += tally.compared;
    for (int cls = 0; cls < value_class_count; ++cls) {
      const uint64_t due = tally.count[cls] ? seen.add(pair, static_cast<ValueClass>(cls), tally.count[cls]) : 0;
      if (due == 0) continue;
      const size_t i = tally.first[cls];
      const int e = tally.element[cls];
      report(make_divergence(property, severity, cases, i, static_cast<ValueClass>(cls), first_name,
                             first.results.get(i, e), second_name, second.results.get(i, e), e),
             due);
    }
  };
  const size_t n = units_.size();
  for (size_t i = 0; i < contracts_.size(); ++i) {
    const Contract& contract = contracts_[i];
    if (outcomes[contract.unit].results.cases() == 0) continue;  // did not run in this round
    const std::string &first = units_[contract.unit]->name(), &second = contract.reference->name();
    Outcomes computed;
    if (contract.slow && round * batch.size() >= refereed_cases) {
      // One case of some batches, picked by a hash, so that over all contracts about one case in slow_share is checked.
      if ((round + i) % (slow_share * contracts_.size() / batch.size() + 1) != 0) continue;
      const Batch sample = batch.part(static_cast<size_t>(round * 2654435761u % batch.size()));
      const Outcomes sampled = units_[contract.unit]->outcomes_of(sample);
      contract.reference->run(sample, computed);
      seen.answers[second].add(computed);
      SpecialOperands operands(sample);
      tell("equals_model", Severity::contract, sample, operands, n * n + i, first, sampled, second, computed);
    } else {
      if (!contract.among_units) {
        contract.reference->run(batch, computed);
        seen.answers[second].add(computed);
      }
      const Outcomes& expected = contract.among_units ? outcomes[*contract.among_units] : computed;
      tell("equals_model", Severity::contract, batch, special, n * n + i, first, outcomes[contract.unit], second,
           expected);
    }
  }
  const auto compare_with_others = [&](size_t unit, std::optional<size_t> left_out = {}) {
    for (size_t j = 0; j < n; ++j) {
      const size_t first = std::min(unit, j), second = std::max(unit, j);
      if (j == unit || j == left_out) continue;
      if (is_checked_only_by_contract(first) || is_checked_only_by_contract(second)) continue;
      tell("equal", Severity::semantic, batch, special, first * n + second, units_[first]->name(), outcomes[first],
           units_[second]->name(), outcomes[second], reported_by_its_model(outcomes, first, second));
    }
  };
  const auto row = rows_.find(focus);
  if (row == rows_.end()) {
    compare_with_others(focus);
  } else {  // the row's own differences are reported from the same batch
    compare_with_others(row->second);
    if (!is_checked_only_by_contract(focus)) compare_with_others(focus, row->second);
  }
  return compared;
}

void Comparison::examine_contracts(const Batch& batch, uint64_t round, SeenClasses& seen,
                                   const ReportDivergence& report) const {
  const bool takes_sample = round % std::max<size_t>(1, slow_share / batch.size()) == 0;
  const Batch sample = every_nth(batch, slow_share);
  for (const Contract& contract : contracts_) {
    const Unit &unit = *units_[contract.unit], &reference = *contract.reference;
    const bool all = is_of_this_machine(unit.role());
    if (!all && !takes_sample) continue;
    const Batch& cases = all ? batch : sample;
    const Outcomes given = unit.outcomes_of(cases), expected = reference.outcomes_of(cases);
    seen.answers[unit.name()].add(given);
    seen.answers[reference.name()].add(expected);
    compare_units("equals_model", Severity::contract, cases, unit.name(), given, reference.name(), expected, report);
  }
}

void Comparison::examine_properties(const Batch& batch, const Outcomes& base, size_t unit, std::optional<uint64_t> turn,
                                    const ReportDivergence& report, const PropertyChecked& checked) const {
  const auto takes_turns = [&](const BoundProperty& property) {
    return turn && op_.kind == OpKind::gemm && property.property().costs_a_run();
  };
  uint64_t turns = 0, number = 0;  // of properties that take turns: how many there are, and this one's
  for (const BoundProperty& property : properties_[unit]) turns += takes_turns(property);
  for (const BoundProperty& property : properties_[unit]) {
    bool broken = false;
    const auto tell = [&](Divergence d, uint64_t count) {
      broken = true;
      report(std::move(d), count);
    };
    size_t compared;
    if (turns > 1 && takes_turns(property)) {
      Batch part(op_);
      std::vector<size_t> chosen;
      for (size_t i = 0; i < batch.size(); ++i) {
        if ((i + *turn) % turns != number) continue;
        part.append(batch, i);
        chosen.push_back(i);
      }
      compared = property.check(part, outcomes_of(base, chosen), tell);
      ++number;
    } else {
      compared = property.check(batch, base, tell);
    }
    if (checked) checked(property.property(), compared, broken);
  }
}

int Comparison::disagreement_bin(const std::vector<Outcomes>& outcomes, size_t focus, size_t index) const {
  const FormatFields& d = op_.d.fields();
  const uint64_t of_focus = outcomes[focus].results.get(index);
  int agreeing = 0;  // a sum of bit_of()
  uint64_t gap = 0;
  for (size_t j = 0; j < units_.size(); ++j) {
    if (j == focus || !outcomes[j].has_answer(index)) continue;
    const uint64_t result = outcomes[j].results.get(index);
    if (result == of_focus) agreeing |= bit_of(units_[j]->role());
    else gap = std::max(gap, ulp_gap(d, of_focus, result));
  }
  return bins::Disagree::at(agreeing, ulp_class(gap));
}

void Comparison::confirm(const Divergence& d) const {
  if (!referee_ || d.key.property != "equal") return;
  for (size_t i = 0; i < d.key.units.size(); ++i) {
    if (d.key.units[i] != "exact") continue;
    if (referee_->outcomes_of(d.cases).results.get(0, d.element) != d.results[i])
      throw Contradiction("the exact fast path and MPFR disagree on '" + to_text(d.cases.op()) +
                          "': " + case_line(d.cases, 0));
  }
}

}  // namespace mmafuzz
