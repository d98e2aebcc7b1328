#include "triage/unexplained/effect.h"

#include <algorithm>

#include <fmt/format.h>

namespace mmafuzz {
namespace {

constexpr size_t most_cases = 64;  ///< that differ
constexpr size_t few = 4;          ///< answers that say the same in other words

/// On how many cases one form of the results is `wanted`.
template <class Wanted>
std::vector<size_t> cases_with(const EffectResults& forms, size_t cases, const Wanted& wanted) {
  std::vector<size_t> found;
  for (size_t i = 0; i < cases; ++i)
    if (std::any_of(forms.begin(), forms.end(), [&](const std::vector<uint64_t>& form) { return wanted(form[i], i); }))
      found.push_back(i);
  return found;
}

Sample sample_of(const Surroundings& from, const std::vector<size_t>& indices) {
  Sample sample;
  for (const size_t index : indices) {
    sample.cases.emplace_back(from.cases.op(), from.cases, index);
    if (from.before.size()) sample.before.emplace_back(from.before.op(), from.before, index);
    sample.own.push_back(from.own[index]);
    sample.claimed.push_back(from.claimed[index]);
  }
  return sample;
}

}  // namespace

std::vector<size_t> Effect::visible(const Surroundings& cases, const std::vector<size_t>& indices) const {
  if (!results) return indices;
  const Sample sample = sample_of(cases, indices);
  std::vector<size_t> visible = cases_with(results(sample), indices.size(),
                                           [&](uint64_t result, size_t i) { return result != sample.claimed[i]; });
  for (size_t& i : visible) i = indices[i];
  return visible;
}

Effect effect_of(const Surroundings& cases, const Unit& model, const std::vector<Variant>& variants) {
  std::vector<size_t> spread;
  const size_t count = std::min(cases.differ.size(), most_cases);
  for (size_t i = 0; i < count; ++i) spread.push_back(cases.differ[i * cases.differ.size() / count]);
  const Sample sample = sample_of(cases, spread);
  std::vector<EffectCandidate> all = effect_candidates(cases.cases.op(), model, variants, sample);
  size_t best = 0;
  for (EffectCandidate& candidate : all) {
    candidate.fits = cases_with(candidate.results(sample), count, [&](uint64_t result, size_t i) {
                       return result == sample.own[i];
                     }).size();
    if (candidate.stage == Stage::row && candidate.fits < count) candidate.fits = 0;  // a parameter holds for all
    best = std::max(best, candidate.fits);
  }
  if (count == 0 || 4 * best < 3 * count) return {};
  // The stage with the fewest answers says most; the first of few is as good as one.
  const EffectCandidate* first[stages] = {};
  size_t alike[stages] = {};
  for (const EffectCandidate& candidate : all)
    if (candidate.fits == best && alike[static_cast<int>(candidate.stage)]++ == 0)
      first[static_cast<int>(candidate.stage)] = &candidate;
  int stage = -1;
  for (int s = 0; s < stages; ++s)
    if (first[s] && (stage < 0 || (alike[stage] > few && alike[s] < alike[stage]))) stage = s;
  constexpr const char* what[] = {"changes of an operand", "other rows", "changes of the last sum",
                                  "changes of the result"};
  std::string text = "as if " + first[stage]->text;
  if (alike[stage] > 1) text += fmt::format(" (one of {} such {})", alike[stage], what[stage]);
  return {text + fmt::format(" ({} of {} cases near it that differ)", best, count), first[stage]->results};
}

}  // namespace mmafuzz
