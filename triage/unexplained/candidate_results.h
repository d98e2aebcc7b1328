// What the candidates of effects share: results of changed cases, and of cases with a changed sum of an earlier step.
#pragma once

#include <utility>

#include <fmt/format.h>

#include "arithmetic/corner_encodings.h"
#include "arithmetic/evaluate_dot.h"
#include "core/dot_case.h"
#include "core/text.h"
#include "triage/unexplained/effect.h"

namespace mmafuzz {

constexpr int max_carry = 110;  ///< limit of the bits of sums whose carries and guard bits are changed

/// What a unit or variant makes of cases; for a case without an answer, the entry of `otherwise`.
template <class Run>
std::vector<uint64_t> results_of(const Run& run, const Op& op, const std::vector<Operands>& cases,
                                 const std::vector<uint64_t>& otherwise) {
  Batch batch(op, cases.size());
  for (size_t i = 0; i < cases.size(); ++i) cases[i].store(batch, i);
  const Outcomes outcomes = run(batch);
  std::vector<uint64_t> results = otherwise;
  for (size_t i = 0; i < results.size(); ++i)
    if (outcomes.has_answer(i)) results[i] = outcomes.results.get(i);
  return results;
}
inline std::vector<uint64_t> results_of(const Unit& unit, const Op& op, const std::vector<Operands>& cases,
                                        const std::vector<uint64_t>& otherwise) {
  return results_of([&](const Batch& batch) { return unit.outcomes_of(batch); }, op, cases, otherwise);
}

/// The model's steps of case `index`; `own` holds those that the sample lacks.
inline const std::vector<Step>& steps_of(const Sample& sample, size_t index, const DotModel& model,
                                         std::vector<Step>& own) {
  if (!sample.steps.empty()) return sample.steps[index];
  DotCase loaded(sample.cases[index].op());
  return own = recorded_steps(model, loaded.load(sample.cases[index].as_batch(), 0));
}

/// Makes the products that the model adds as number `first` up to `end` -0, which changes no sum, not even -0. Without
/// a model they are added by lane.
inline void leave_out(Operands& c, size_t first, size_t end, const DotModel* model) {
  for (size_t i = first; i < end; ++i) {
    const size_t k = model ? static_cast<size_t>(model->k) : 1;
    const size_t lane = model ? i / k * k + static_cast<size_t>(added_at(*model, static_cast<int>(i % k))) : i;
    clear_addend(c, static_cast<int>(lane));
    if (c.format(lane).has_sign()) c[lane] = c.format(lane).encode_zero(true);
  }
}

/// The changed magnitude of one of which rounding drops the last digits.
using ChangedMagnitude = std::function<uint128(uint128, int dropped)>;

/// Changes that make other guard and sticky bits of what rounding to nearest drops of `rounded`, "the sum".
inline std::vector<std::pair<std::string, ChangedMagnitude>> guard_changes(const std::string& rounded) {
  constexpr int max_places = 3;
  std::vector<std::pair<std::string, ChangedMagnitude>> all;
  // `change` gets what is dropped, with the digit before it, and half a unit of that digit.
  const auto add = [&](const std::string& text, const std::function<uint128(uint128 rest, uint128 half)>& change) {
    all.emplace_back(fmt::format(fmt::runtime(text), rounded), [change](uint128 m, int dropped) {
      if (dropped <= 0 || dropped > max_carry) return m;
      const uint128 half = uint128{1} << (dropped - 1), rest = m & (4 * half - 1);
      return m - rest + change(rest, half);
    });
  };
  const auto is_inexact = [](uint128 rest, uint128 half) { return (rest & (2 * half - 1)) != 0; };
  add("{} were rounded away from zero",
      [=](uint128 rest, uint128 half) { return is_inexact(rest, half) ? (rest & (2 * half)) + 2 * half : rest; });
  add("the sticky bit of {} were ORed into its guard bit",
      [=](uint128 rest, uint128 half) { return is_inexact(rest, half) ? rest | half : rest; });
  add("all that rounding drops of {} counted as half a unit",
      [=](uint128 rest, uint128 half) { return (rest & (2 * half)) | (is_inexact(rest, half) ? half : 0); });
  for (int places = 1; places <= max_places; ++places)
    add(fmt::format("the guard bit of {{}} were taken {} too low", counted(static_cast<uint64_t>(places), "place")),
        [places](uint128 rest, uint128 half) { return (rest & (2 * half)) | ((rest << places) & (2 * half - 1)); });
  add("the guard bit of {} were taken 1 place too high",
      [](uint128 rest, uint128 half) { return (rest & (2 * half)) | (rest >> 1) | (rest & 1); });
  return all;
}

/// Dots whose first products are replaced by a changed sum of them, as c.
class LaterSteps {
 public:
  /// The unit must outlive this object.
  LaterSteps(const Unit& unit, const Op& op) : unit_(unit), op_(op) {}

  /// The first `products` of case `index` have the sum `changed`; its result belongs to a form.
  void add(const Sample& sample, size_t index, size_t form, size_t products, uint64_t changed) {
    cases_.push_back(sample.cases[index]);
    leave_out(cases_.back(), 0, products, unit_.model());
    cases_.back()[2 * static_cast<size_t>(op_.k)] = changed;
    places_.emplace_back(form, index);
    of_model_.push_back(sample.of_model[index]);
  }
  void put_into(EffectResults& results) const {
    if (cases_.empty()) return;
    const std::vector<uint64_t> found = results_of(unit_, op_, cases_, of_model_);
    for (size_t n = 0; n < places_.size(); ++n) results[places_[n].first][places_[n].second] = found[n];
  }

 private:
  const Unit& unit_;
  Op op_;
  std::vector<Operands> cases_;
  std::vector<std::pair<size_t, size_t>> places_;  ///< of the results, by form and case
  std::vector<uint64_t> of_model_;
};

}  // namespace mmafuzz
