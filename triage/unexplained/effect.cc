#include "triage/unexplained/effect.h"

#include <algorithm>

#include "core/property.h"

namespace mmafuzz {
namespace {

constexpr size_t max_cases = 64;      ///< limit of cases on which candidates are tried
constexpr size_t max_agreeing = 512;  ///< limit of agreeing cases of the walk on which a candidate is tried
constexpr size_t max_alike = 16;      ///< more candidates of one stage that explain as much do so by chance

/// Indices of the cases on which at least one form of the results is `wanted`.
template <class Wanted>
std::vector<size_t> cases_with(const EffectResults& forms, size_t cases, const Wanted& wanted) {
  std::vector<size_t> found;
  for (size_t i = 0; i < cases; ++i)
    if (std::any_of(forms.begin(), forms.end(), [&](const std::vector<uint64_t>& form) { return wanted(form[i], i); }))
      found.push_back(i);
  return found;
}

/// At most `most` of the indices, evenly spread.
std::vector<size_t> spread(const std::vector<size_t>& indices, size_t most) {
  std::vector<size_t> some;
  for (size_t i = 0; i < std::min(most, indices.size()); ++i)
    some.push_back(indices[i * indices.size() / std::min(most, indices.size())]);
  return some;
}

Sample sample_of(const Surroundings& walk, const std::vector<size_t>& indices) {
  Sample sample;
  for (const size_t index : indices) {
    sample.cases.emplace_back(walk.cases.op(), walk.cases, index);
    if (walk.before.size()) sample.before.emplace_back(walk.before.op(), walk.before, index);
    sample.of_unit.push_back(walk.of_unit[index]);
    sample.of_model.push_back(walk.of_model[index]);
  }
  return sample;
}

/// Leaves the candidate that one of its forms.
void keep_form(EffectCandidate& candidate, size_t form) {
  if (candidate.name_of_form) candidate.text += candidate.name_of_form(form);
  candidate.results = [all = std::move(candidate.results), form](const Sample& sample) {
    EffectResults results = all(sample);
    return EffectResults{form < results.size() ? std::move(results[form]) : sample.of_model};
  };
}

/// All stages, those that a condition on such numbers makes likely first.
std::vector<Stage> likeliest_first(CaseNumber::Where condition) {
  if (condition == CaseNumber::Where::sum) return {Stage::sum, Stage::result, Stage::row, Stage::operands};
  if (condition == CaseNumber::Where::result) return {Stage::result, Stage::sum, Stage::row, Stage::operands};
  return {Stage::operands, Stage::row, Stage::sum, Stage::result};
}

}  // namespace

std::vector<size_t> Effect::visible(const Surroundings& cases, const std::vector<size_t>& indices) const {
  if (!results) return indices;
  const Sample sample = sample_of(cases, indices);
  std::vector<size_t> found = cases_with(results(sample), indices.size(), [&](uint64_t result, size_t i) {
    return !same_result(cases.cases.op(), result, sample.of_model[i]);
  });
  for (size_t& i : found) i = indices[i];
  return found;
}

Effects::Effects(const Surroundings& walk, const Unit& model, const std::vector<ModelVariant>& variants)
    : cases_(std::min(walk.differ.size(), max_cases)) {
  Sample sample = sample_of(walk, spread(walk.differ, max_cases));
  if (model.model() && walk.cases.op().kind == OpKind::dot) {
    DotCase loaded(walk.cases.op());
    for (const Operands& c : sample.cases)
      sample.steps.push_back(recorded_steps(*model.model(), loaded.load(c.as_batch(), 0)));
  }
  std::vector<size_t> agree = spread(walk.agree, max_agreeing);
  agree.insert(agree.end(), walk.far.begin(), walk.far.end());
  const Sample agreeing = sample_of(walk, agree);
  const Op& op = walk.cases.op();
  all_ = effect_candidates(op, model, variants, sample);
  const auto fits = [&](uint64_t result, size_t i) { return same_result(op, result, sample.of_unit[i]); };
  const auto is_complete = [&](const EffectCandidate& candidate) {
    return cases_with(candidate.results(agreeing), agreeing.cases.size(),
                      [&](uint64_t result, size_t i) { return !same_result(op, result, agreeing.of_model[i]); })
        .empty();
  };
  for (EffectCandidate& candidate : all_) {
    const EffectResults forms = candidate.results(sample);
    candidate.fits = cases_with(forms, cases_, fits).size();
    for (size_t form = 0; forms.size() > 1 && candidate.fits > 0 && form < forms.size(); ++form)
      if (cases_with({forms[form]}, cases_, fits).size() == candidate.fits) {
        keep_form(candidate, form);
        break;
      }
    if (candidate.stage == Stage::row && candidate.fits < cases_) candidate.fits = 0;  // a row holds for all cases
    if (candidate.is_strict && candidate.fits > 0 && (candidate.fits < cases_ || !is_complete(candidate)))
      candidate.fits = 0;
    most_ = std::max(most_, candidate.fits);
  }
  if (!explains_enough() || agreeing.cases.empty()) return;
  for (EffectCandidate& candidate : all_)
    if (candidate.fits == most_) candidate.is_complete = is_complete(candidate);
}

Effect Effects::best(CaseNumber::Where condition) const {
  if (!explains_enough()) return {};
  // The first of each stage is named. A stage with many that fit is used only if no other stage has any.
  const EffectCandidate* chosen = nullptr;
  std::string text;
  const bool any_complete =
      std::any_of(all_.begin(), all_.end(), [](const EffectCandidate& c) { return c.is_complete; });
  for (const bool allows_many : {false, true})
    for (const Stage stage : likeliest_first(condition)) {
      size_t alike = 0;
      const EffectCandidate* first = nullptr;
      for (const EffectCandidate& candidate : all_)
        if (candidate.fits == most_ && candidate.is_complete == any_complete && candidate.stage == stage &&
            alike++ == 0)
          first = &candidate;
      if (!first || (alike > max_alike) != allows_many || (allows_many && chosen)) continue;
      if (chosen && stage == Stage::row) continue;  // a parameter of the row is unlikely under a condition
      if (!chosen) chosen = first;
      text += (text.empty() ? "" : ", or ") + first->text;
    }
  return {text, most_, cases_, chosen->results};
}

}  // namespace mmafuzz
