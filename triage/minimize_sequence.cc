#include "triage/minimize_sequence.h"

#include <algorithm>

#include "triage/operands.h"

namespace mmafuzz {
namespace {

/// Zeros before a sequence, so that what came before it is forgotten. Rests of different lengths: what fails every so
/// many cases does not fail after all of them.
constexpr size_t rests[] = {16, 17, 18, 20};

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

}  // namespace

bool fails_after_others(const Judge& judge, const Batch& sequence) {
  return sequence.size() > 1 && last_fails(judge, sequence) && !last_fails(judge, last_of(sequence));
}

Batch minimize_sequence(const Judge& judge, const Batch& sequence) {
  Batch best = sequence;
  for (size_t count = best.size() / 2; count >= 1; count /= 2)
    for (size_t first = 0; first + count < best.size();) {
      Batch shorter = without(best, first, count);
      if (fails_after_others(judge, shorter)) best = std::move(shorter);
      else first += count;
    }
  for (size_t i = 0; i < best.size(); ++i) {
    Operands operands(best.op(), best, i);
    for (size_t at = 0; at < operands.size(); ++at) {
      Operands simpler = operands;
      simpler.clear(at);
      if (simpler == operands) continue;
      Batch changed = best;
      simpler.store(changed, i);
      if (!fails_after_others(judge, changed)) continue;
      best = std::move(changed);
      operands = simpler;
    }
  }
  return best;
}

}  // namespace mmafuzz
