#include "identify/separate.h"

#include <algorithm>

#include "search/datapath_walks.h"
#include "search/structured_generator.h"

namespace mmafuzz {

Separator::Separator(const DotModel& row, const Evidence& evidence, uint64_t seed, std::function<bool()> goes_on)
    : row_(row),
      evidence_(evidence),
      seed_(seed),
      goes_on_(std::move(goes_on)),
      asked_(evidence.op()),
      pool_(evidence.op()),
      targeted_(evidence.op()) {
  for (size_t i = 0; i < evidence.size(); ++i) asked_.append(evidence.cases().one(i), 0);
  Batch batch;
  fill(corner_hints(&row_), all_cases, 1, batch);
  add_all(batch, pool_);
}

void Separator::add_all(const Batch& batch, Pool& pool) const {
  for (size_t i = 0; i < batch.size(); ++i) pool.cases.add(batch, i);
  ResultsOfRow results(row_, pool.cases);
  for (size_t i = 0; i < pool.cases.size(); ++i) pool.results.push_back(results.at(i));
}

/// Of four cases, one is structured, one is at a random position of a walk through the datapath, and two are mutations
/// of cases of the evidence.
void Separator::fill(const CornerHints& hints, size_t count, uint64_t stream, Batch& batch) const {
  const Op& op = evidence_.op();
  Batch structured;
  StructuredGenerator(op, seed_ + stream).fill(0, count, structured);
  batch = structured;
  const DatapathWalks walks(op, hints, seed_ + stream);
  const Mutator mutator(op, hints);
  for (size_t i = 0; i < count; ++i) {
    CounterRng rng(seed_ ^ (stream << 32), i);
    if (i % 4 == 1 && walks.length()) {
      walks.make(rng.next() % walks.length(), batch, i);
    } else if (i % 4 >= 2 && asked_.size()) {
      copy_case(asked_, rng.below(static_cast<uint32_t>(asked_.size())), batch, i);
      mutator.mutate(batch, i, rng);
    }
  }
}

Separator::Found Separator::separate(const std::vector<Other>& others) {
  const Op& op = evidence_.op();
  constexpr size_t remembered = 24;                           // cases kept for each other row
  std::vector<std::vector<uint32_t>> telling(others.size());  // by other row: the first cases on which it differs
  std::vector<uint32_t> tells(pool_.cases.size());            // by case: rows that differ on it and have no case yet
  Found found;
  found.agreed_on.assign(others.size(), 0);
  for (size_t o = 0; o < others.size() && goes_on_(); ++o) {
    found.agreed_on[o] = others[o].is_deep ? pool_.cases.size() : quick_cases;
    ResultsOfRow results(others[o].model, pool_.cases);
    for (size_t i = 0; i < pool_.cases.size() && telling[o].size() < remembered; ++i) {
      if (i >= quick_cases && (!others[o].is_deep || !telling[o].empty())) break;
      if (same_result(op, results.at(i), pool_.results[i])) continue;
      telling[o].push_back(static_cast<uint32_t>(i));
      ++tells[i];
    }
  }
  found.case_of_other.assign(others.size(), SIZE_MAX);
  for (;;) {  // the case on which the most rows differ comes first
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < tells.size(); ++i)
      if (tells[i] && (best == SIZE_MAX || tells[i] > tells[best])) best = i;
    if (best == SIZE_MAX) break;
    for (size_t o = 0; o < others.size(); ++o) {
      if (found.case_of_other[o] != SIZE_MAX) continue;
      if (std::find(telling[o].begin(), telling[o].end(), best) == telling[o].end()) continue;
      found.case_of_other[o] = found.cases.size();
      for (const uint32_t i : telling[o]) --tells[i];
    }
    tells[best] = 0;
    found.cases.push_back(pool_.cases.one(best));
  }
  for (size_t o = 0; o < others.size(); ++o) {
    if (found.case_of_other[o] != SIZE_MAX || !others[o].is_deep) continue;
    if (!goes_on_()) break;
    found.agreed_on[o] = deep_cases;
    if (const std::optional<Batch> one = targeted(others[o].model)) {
      found.case_of_other[o] = found.cases.size();
      found.cases.push_back(*one);
    }
  }
  return found;
}

std::optional<Batch> Separator::targeted(const DotModel& other) {
  const Op& op = evidence_.op();
  const auto made = [&](const DotModel& row, size_t count) {
    const TargetedCases cases(op, row, seed_);
    Batch batch(op, count);
    for (size_t i = 0; i < count; ++i) cases.make(i, batch, i);
    return batch;
  };
  const auto differing = [&](const Pool& pool) -> std::optional<Batch> {
    ResultsOfRow of_other(other, pool.cases);
    for (size_t i = 0; i < pool.results.size(); ++i)
      if (!same_result(op, of_other.at(i), pool.results[i])) return pool.cases.one(i);
    return {};
  };
  if (targeted_.results.empty()) add_all(made(row_, targeted_cases), targeted_);
  if (std::optional<Batch> found = differing(targeted_)) return found;
  Pool pool_of_other(op);
  add_all(made(other, cases_of_other), pool_of_other);
  if (std::optional<Batch> found = differing(pool_of_other)) return found;
  return carried_case(row_, other, targeted_.cases, sums_, seed_, goes_on_);
}

}  // namespace mmafuzz
