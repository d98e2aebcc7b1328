#include "triage/minimize_sequence.h"

#include <algorithm>

#include "triage/operands.h"
#include "triage/simplifications.h"

namespace mmafuzz {
namespace {

/// Zeros before a sequence, so that what came before it is forgotten. Rests of different lengths: what fails every so
/// many cases does not fail after all of them.
constexpr size_t rests[] = {16, 17, 18, 20};
constexpr size_t most_tries = 20'000;  ///< sequences that are looked at to find the simplest form

Batch after_rest(const Batch& sequence, size_t resting_cases) {
  Batch all(sequence.op());
  all.resize(resting_cases + sequence.size());
  Operands zeros(sequence.op(), sequence, 0);
  for (size_t at = 0; at < zeros.size(); ++at) zeros.clear(at);
  for (size_t i = 0; i < resting_cases; ++i) zeros.store(all, i);
  for (size_t i = 0; i < sequence.size(); ++i) Operands(sequence.op(), sequence, i).store(all, resting_cases + i);
  return all;
}

bool last_fails(const Judge& judge, const Batch& sequence) {
  return std::all_of(std::begin(rests), std::end(rests),
                     [&](size_t rest) { return judge.judge(after_rest(sequence, rest)).back().fails; });
}

Batch without(const Batch& sequence, size_t first, size_t count) {
  Batch rest(sequence.op());
  for (size_t i = 0; i < sequence.size(); ++i)
    if (i < first || i >= first + count) rest.append(sequence, i);
  return rest;
}

Batch last_of(const Batch& sequence) { return without(sequence, 0, sequence.size() - 1); }

/// Makes case `i` simpler in one respect, if the sequence then still fails. Counts what it tries.
bool simplify_one(const Judge& judge, Batch& sequence, size_t i, Simplification simplify, size_t& tries) {
  const Operands current(sequence.op(), sequence, i);
  const CaseCost cost = current.cost();
  for (const Operands& candidate : simplify(current)) {
    if (!is_simpler(candidate, candidate.cost(), current, cost)) continue;
    if (tries == most_tries) return false;
    ++tries;
    Batch changed = sequence;
    candidate.store(changed, i);
    if (!fails_after_others(judge, changed)) continue;
    sequence = std::move(changed);
    return true;
  }
  return false;
}

}  // namespace

bool fails_after_others(const Judge& judge, const Batch& sequence) {
  return sequence.size() > 1 && last_fails(judge, sequence) && !last_fails(judge, last_of(sequence));
}

size_t period_of(const Judge& judge, const Batch& one) {
  constexpr size_t longest = 64, periods = 8;
  Batch copies(one.op());
  for (size_t i = 0; i < longest * periods; ++i) copies.append(one, 0);
  const std::vector<Verdict> verdicts = judge.judge(copies);
  for (size_t n = 2; n <= longest; ++n) {
    size_t failing = 0;
    for (size_t i = 0; i < n; ++i) failing += verdicts[i].fails;
    bool repeats = failing > 0 && failing < n;
    for (size_t i = n; repeats && i < verdicts.size(); ++i) repeats = verdicts[i].fails == verdicts[i - n].fails;
    if (repeats) return n;
  }
  return 0;
}

Batch minimize_sequence(const Judge& judge, const Batch& sequence) {
  Batch best = sequence;
  for (size_t count = best.size() / 2; count >= 1; count /= 2)
    for (size_t first = 0; first + count < best.size();) {
      Batch shorter = without(best, first, count);
      if (fails_after_others(judge, shorter)) best = std::move(shorter);
      else first += count;
    }
  size_t tries = 0;
  for (bool changed = true; changed && tries < most_tries;) {
    changed = false;
    for (size_t i = 0; i < best.size(); ++i)
      for (const Simplification simplify : simplifications())
        while (simplify_one(judge, best, i, simplify, tries)) changed = true;
  }
  return best;
}

}  // namespace mmafuzz
