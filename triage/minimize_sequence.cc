#include "triage/minimize_sequence.h"

#include "triage/operands.h"
#include "triage/simplifications.h"

namespace mmafuzz {
namespace {

constexpr int runs = 4;  ///< of a sequence, in each of which it must fail for fails_after_others()
constexpr size_t longest = 1024, periods = 3;  ///< copies of the longest period that is found; periods that are seen
constexpr size_t least_copies = 64;            ///< among zeros, of is_count()
constexpr size_t max_tries = 300;  ///< limit of sequences tried to simplify cases: each try starts processes

Batch without(const Batch& sequence, size_t first, size_t count) {
  Batch rest(sequence.op());
  for (size_t i = 0; i < sequence.size(); ++i)
    if (i < first || i >= first + count) rest.append(sequence, i);
  return rest;
}

/// Whether the last case of the sequence fails after the others and not by itself, in one run.
bool fails_once(const Judge& judge, const Registry& registry, const Batch& sequence) {
  return sequence.size() > 1 && judge.judge_anew(sequence, registry).back().fails &&
         !judge.judge_anew(without(sequence, 0, sequence.size() - 1), registry)[0].fails;
}

/// Makes case `i` simpler by one simplification under which the sequence still fails; false where there is none. Counts
/// in `tries` the sequences that are run.
bool simplify_one(const Judge& judge, const Registry& registry, Batch& sequence, size_t i, Simplification simplify,
                  size_t& tries) {
  const Operands current(sequence.op(), sequence, i);
  const CaseCost cost = current.cost();
  for (const Operands& candidate : simplify(current)) {
    if (!is_simpler(candidate, candidate.cost(), current, cost)) continue;
    if (tries == max_tries) return false;
    ++tries;
    Batch changed = sequence;
    candidate.store(changed, i);
    if (!fails_once(judge, registry, changed)) continue;
    sequence = std::move(changed);
    return true;
  }
  return false;
}

}  // namespace

bool fails_after_others(const Judge& judge, const Registry& registry, const Batch& sequence) {
  for (int i = 0; i < runs; ++i)
    if (!fails_once(judge, registry, sequence)) return false;
  return true;
}

Period period_of(const Judge& judge, const Registry& registry, const Batch& single) {
  Batch copies(single.op());
  for (size_t i = 0; i < longest * periods; ++i) copies.append(single, 0);
  const std::vector<Verdict> verdicts = judge.judge_anew(copies, registry);
  for (size_t n = 2; n <= longest; ++n) {
    size_t failing = 0;
    for (size_t i = 0; i < n; ++i) failing += verdicts[i].fails;
    bool repeats = failing > 0 && failing < n;
    for (size_t i = n; repeats && i < verdicts.size(); ++i) repeats = verdicts[i].fails == verdicts[i - n].fails;
    if (!repeats) continue;
    size_t shown = n;
    while (!verdicts[shown - 1].fails) ++shown;
    return {n, shown};
  }
  return {};
}

bool is_count(const Judge& judge, const Registry& registry, const Batch& single, const Period& period) {
  const Batch zeros = cleared(Operands(single.op(), single, 0)).as_batch();
  Batch copies(single.op()), mixed(single.op());
  std::vector<size_t> at;  // places of the copies among the zeros
  CounterRng rng(1, 0);
  for (size_t i = 0; i < std::max(least_copies, periods * period.cases); ++i) {
    while (rng.one_in(3)) mixed.append(zeros, 0);
    at.push_back(mixed.size());
    mixed.append(single, 0);
  }
  while (copies.size() < mixed.size()) copies.append(single, 0);
  const std::vector<Verdict> alone = judge.judge_anew(copies, registry), among = judge.judge_anew(mixed, registry);
  bool zeros_count = true, zeros_do_not = true;
  for (size_t i = 0; i < at.size(); ++i) {
    zeros_count &= among[at[i]].fails == alone[at[i]].fails;
    zeros_do_not &= among[at[i]].fails == alone[i].fails;
  }
  return zeros_count || zeros_do_not;
}

std::optional<Batch> minimize_sequence(const Judge& judge, const Registry& registry, const Batch& sequence) {
  Batch best = sequence;
  for (size_t count = best.size() / 2; count >= 1; count /= 2)
    for (size_t first = 0; first + count < best.size();) {
      Batch shorter = without(best, first, count);
      if (fails_once(judge, registry, shorter)) best = std::move(shorter);
      else first += count;
    }
  for (size_t i = 0; i + 1 < best.size(); ++i) {  // most cases only have to exist, whatever their operands
    Batch emptier = best;
    cleared(Operands(best.op(), best, i)).store(emptier, i);
    if (fails_once(judge, registry, emptier)) best = std::move(emptier);
  }
  size_t tries = 0;
  for (bool changed = true; changed && tries < max_tries;) {
    changed = false;
    for (size_t i = 0; i < best.size(); ++i)
      for (const Simplification simplify : simplifications())
        while (simplify_one(judge, registry, best, i, simplify, tries)) changed = true;
  }
  if (!fails_after_others(judge, registry, best)) return std::nullopt;
  return best;
}

}  // namespace mmafuzz
