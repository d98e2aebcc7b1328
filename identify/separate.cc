#include "identify/separate.h"

#include <algorithm>

#include "search/datapath_sweeps.h"
#include "search/structured_generator.h"

namespace mmafuzz {

Separator::Separator(const DotModel& row, const Evidence& evidence, uint64_t seed)
    : row_(row), evidence_(evidence), seed_(seed), asked_(evidence.op()) {
  for (size_t i = 0; i < evidence.size(); ++i) asked_.append(evidence.cases().one(i), 0);
}

/// Of four cases: a structured one, the next of a walk through the datapath, and two neighbours of what was asked.
void Separator::fill(const CornerHints& hints, size_t count, uint64_t stream, Batch& batch) const {
  const Op& op = evidence_.op();
  Batch structured;
  StructuredGenerator(op, seed_ + stream).fill(0, count, structured);
  batch = structured;
  const DatapathSweeps sweeps(op, hints, seed_ + stream);
  const Mutator mutator(op, hints);
  for (size_t i = 0; i < count; ++i) {
    CounterRng rng(seed_ ^ (stream << 32), i);
    if (i % 4 == 1 && sweeps.length()) {
      sweeps.make(rng.next() % sweeps.length(), batch, i);
    } else if (i % 4 >= 2 && asked_.size()) {
      copy_case(asked_, rng.below(static_cast<uint32_t>(asked_.size())), batch, i);
      mutator.mutate(batch, i, rng);
    }
  }
}

Separator::Found Separator::separate(const std::vector<DotModel>& others, size_t pool_size) {
  Batch pool;
  fill(corner_hints(&row_), pool_size, 1, pool);
  DotCases cases(evidence_.op());
  std::vector<uint64_t> own;
  for (size_t i = 0; i < pool.size(); ++i) {
    cases.add(pool, i);
    own.push_back(evaluate_dot(row_, cases.operands(i)));
  }
  // By other, the first cases that tell it apart; one that tells many apart is asked first.
  constexpr size_t remembered = 24;
  std::vector<std::vector<uint32_t>> telling(others.size());
  std::vector<uint32_t> tells(pool.size());
  for (size_t o = 0; o < others.size(); ++o) {
    for (size_t i = 0; i < pool.size() && telling[o].size() < remembered; ++i) {
      if (same_result(evidence_.op(), evaluate_dot(others[o], cases.operands(i)), own[i])) continue;
      telling[o].push_back(static_cast<uint32_t>(i));
      ++tells[i];
    }
  }
  Found found;
  found.of_other.assign(others.size(), SIZE_MAX);
  std::vector<size_t> position(pool.size(), SIZE_MAX);
  for (;;) {
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < tells.size(); ++i)
      if (tells[i] && (best == SIZE_MAX || tells[i] > tells[best])) best = i;
    if (best == SIZE_MAX) break;
    for (size_t o = 0; o < others.size(); ++o) {
      if (found.of_other[o] != SIZE_MAX) continue;
      if (std::find(telling[o].begin(), telling[o].end(), best) == telling[o].end()) continue;
      found.of_other[o] = found.cases.size();
      for (const uint32_t i : telling[o]) --tells[i];
    }
    tells[best] = 0;
    found.cases.push_back(cases.one(best));
  }
  return found;
}

std::optional<Batch> Separator::separate_one(const DotModel& other, size_t tries) {
  const Op& op = evidence_.op();
  constexpr size_t chunk = 2048;
  for (size_t done = 0; done < tries; done += chunk) {
    Batch pool;
    // Corners of the other row and of this one by turns.
    fill(corner_hints(done / chunk % 2 ? &row_ : &other), std::min(chunk, tries - done), 2 + done, pool);
    DotCase one(op);
    for (size_t i = 0; i < pool.size(); ++i) {
      const DotOperands& in = one.load(pool, i);
      if (same_result(op, evaluate_dot(row_, in), evaluate_dot(other, in))) continue;
      Batch found(op);
      found.append(pool, i);
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace mmafuzz
