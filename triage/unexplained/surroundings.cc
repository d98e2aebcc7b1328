#include "triage/unexplained/surroundings.h"

#include <algorithm>
#include <utility>

#include "search/mutator.h"
#include "search/structured_generator.h"
#include "triage/operands.h"

namespace mmafuzz {
namespace {

constexpr size_t cases_a_round = 256, rounds = 48;                     ///< cases judged together; limit of rounds
constexpr size_t enough_that_differ = 1024, enough_that_agree = 4096;  ///< limits of cases that are kept
constexpr size_t asked_what_decides = 256;                             ///< cases that differ, at most
constexpr size_t tried_far = 512;                                      ///< cases far from the walk

void new_fraction(Operands& c, size_t at, CounterRng& rng) {
  const FormatFields& f = c.format(at);
  c[at] ^= f.in_container(rng.next() & f.fraction_mask());
}

/// Changes an operand, and all operands that are equal to it in the same way.
void change_equals(Operands& c, size_t at, int exponent, CounterRng& rng) {
  const uint64_t before = c[at];
  if (rng.one_in(2)) new_fraction(c, at, rng);
  else scale(c, at, exponent);
  const uint64_t after = c[at];
  for (size_t i = 0; i < c.size(); ++i)
    if (c[i] == before && c.format(i).width == c.format(at).width) c[i] = after;
}

/// A small random change. The walk also uses those of the mutator, which aim at corners of an adder.
void move_a_little(Operands& c, CounterRng& rng) {
  const bool dot = c.is_dot(), block = c.op().is_of_blocks();
  const uint32_t size = static_cast<uint32_t>(c.size()), k = dot || block ? static_cast<uint32_t>(c.op().k) : size;
  size_t lane = rng.below(k);
  const size_t other = rng.below(k);
  const uint32_t scales = dot ? size - 2 * k - 1 : 0;  // of many operands few are scales
  size_t at = scales && rng.one_in(4) ? size - 1 - rng.below(scales) : rng.below(size);
  if (block && rng.one_in(2))  // few elements of a simple block count
    if (const std::vector<int> live = c.nonzero_addends(); !live.empty())
      lane = at = static_cast<size_t>(live[rng.below(static_cast<uint32_t>(live.size()))]);
  const int distance = rng.between(1, 8);
  const int exponent = rng.one_in(2) ? distance : -distance;
  const size_t factor = dot ? k + lane : lane, addends = dot ? k + 1 : k;
  switch (rng.below(13)) {
    case 0: c[at] ^= uint64_t{1} << rng.below(static_cast<uint32_t>(c.format(at).width)); return;
    case 1: new_fraction(c, at, rng); return;
    case 2:
      for (size_t i = 0; i < c.size(); ++i) new_fraction(c, i, rng);
      return;
    case 3: scale(c, at, exponent); return;
    case 4:  // the product keeps its value
      if (scale(c, lane, exponent) && dot && !scale(c, factor, -exponent)) scale(c, lane, -exponent);
      return;
    case 5: flip_sign(c, rng.below(dot ? 2 * k + 1 : size)); return;  // of an integer format, one bit
    case 6:
      std::swap(c[lane], c[other]);
      if (dot) std::swap(c[factor], c[k + other]);
      return;
    case 7:
      if (block) {  // another element becomes amax
        c[other] = c[lane];
        scale(c, other, 2 * distance);
        return;
      }
      c[lane] = rng.one_in(2) ? c[other] : c[factor] & c.format(lane).container_mask();
      return;
    case 8: c.clear(at); return;
    case 9: change_equals(c, at, exponent, rng); return;
    case 10:
      for (size_t i = 0; i < addends; ++i) scale(c, dot && i == k ? 2 * k : i, exponent);
      return;
    case 11:  // the sum has the other sign
      for (size_t i = 0; i < addends; ++i) flip_sign(c, dot && i == k ? 2 * k : i);
      return;
    default: c[at] = rng.next() & c.format(at).container_mask(); return;
  }
}

/// Adds a case that both units answered, unless there are enough that differ, or agree. Returns whether it was added.
bool keep(Surroundings& all, const Batch& cases, size_t i, const Verdict& verdict) {
  if (!verdict.compared) return false;
  std::vector<size_t>& list = verdict.fails ? all.differ : all.agree;
  if (list.size() >= (verdict.fails ? enough_that_differ : enough_that_agree)) return false;
  list.push_back(all.cases.size());
  all.cases.append(cases, i);
  all.of_unit.push_back(verdict.first);
  all.of_model.push_back(verdict.second);
  return true;
}

}  // namespace

Surroundings surroundings_of(const Judge& judge, const Batch& starts, uint64_t seed, bool only_differing) {
  const Op& op = judge.op();
  Surroundings all;
  all.cases = Batch(op);
  const Mutator mutator(op, corner_hints(judge.units()[1]->model()));
  const std::vector<Verdict> of_starts = judge.judge(starts);
  for (size_t i = 0; i < starts.size(); ++i) keep(all, starts, i, of_starts[i]);
  if (all.differ.empty()) return all;
  for (uint64_t round = 0; round < rounds; ++round) {
    Batch tried(op, cases_a_round);
    for (size_t i = 0; i < cases_a_round; ++i) {
      CounterRng rng(seed, round * cases_a_round + i);
      copy_case(all.cases, all.differ[rng.below(static_cast<uint32_t>(all.differ.size()))], tried, i);
      if (rng.one_in(3)) {
        mutator.mutate(tried, i, rng);
        continue;
      }
      Operands c(op, tried, i);
      for (uint32_t moves = 1 + (rng.one_in(2) ? rng.below(4) : 0); moves > 0; --moves) move_a_little(c, rng);
      c.store(tried, i);
    }
    const std::vector<Verdict> verdicts = judge.judge(tried);
    for (size_t i = 0; i < cases_a_round; ++i) keep(all, tried, i, verdicts[i]);
    if (all.differ.size() >= enough_that_differ && (only_differing || all.agree.size() >= enough_that_agree)) break;
  }
  return all;
}

void find_far_cases(Surroundings& all, const Judge& judge, uint64_t seed) {
  Batch drawn(judge.op(), tried_far);
  StructuredGenerator(judge.op(), seed).fill(0, drawn.size(), drawn);
  const std::vector<Verdict> verdicts = judge.judge(drawn);
  for (size_t i = 0; i < drawn.size(); ++i) {
    if (!verdicts[i].compared || verdicts[i].fails) continue;
    all.far.push_back(all.cases.size());
    all.agree.push_back(all.cases.size());
    all.cases.append(drawn, i);
    all.of_unit.push_back(verdicts[i].first);
    all.of_model.push_back(verdicts[i].second);
  }
}

void find_deciding_products(Surroundings& all, const Judge& judge) {
  const Op& op = judge.op();
  const auto find = [&](bool alone) {
    all.deciding.assign(std::min(all.differ.size(), asked_what_decides), -1);
    for (size_t n = 0; n < all.deciding.size(); ++n) {
      const Operands whole(op, all.cases, all.differ[n]);
      Batch asked(op, static_cast<size_t>(op.k));
      for (int lane = 0; lane < op.k; ++lane) {
        Operands c = alone ? cleared(whole) : whole;
        if (!alone) clear_addend(c, lane);
        for (const size_t at : whole.operands_of(lane))
          if (alone) c[at] = whole[at];
        c.store(asked, static_cast<size_t>(lane));
      }
      int found = 0;
      const std::vector<Verdict> verdicts = judge.judge(asked);
      for (int lane = 0; lane < op.k; ++lane)
        if (const Verdict& v = verdicts[static_cast<size_t>(lane)]; v.compared && v.fails == alone && ++found == 1)
          all.deciding[n] = lane;
      if (found != 1) all.deciding[n] = -1;
    }
    return std::count_if(all.deciding.begin(), all.deciding.end(), [](int lane) { return lane >= 0; });
  };
  constexpr int enough = 16;
  if (find(true) < enough) find(false);
}

Surroundings surroundings_after(const Judge& judge, const Registry& registry, const Batch& sequence, uint64_t seed,
                                uint64_t tries) {
  const Op& op = judge.op();
  const size_t last = sequence.size() - 1;
  Surroundings all;
  all.cases = all.before = Batch(op);
  std::vector<Batch> differing = {sequence};
  if (keep(all, sequence, last, judge.judge_anew(sequence, registry).back())) all.before.append(sequence, last - 1);
  const auto before_last = [&](const Batch& cases) {  // what the model makes of the case before the last
    return judge.units()[1]->outcomes_of(cases.part(last - 1)).results.get(0);
  };
  const Operands first(op, sequence, last);
  const uint64_t result_at_first = before_last(sequence);
  for (uint64_t number = 0; number < tries; ++number) {
    CounterRng rng(seed, number);
    Batch tried = differing[rng.below(static_cast<uint32_t>(differing.size()))];
    // The last case, the one before it, or both by the same random numbers: the flaw may need that they are similar.
    enum class Moved : uint32_t { last, before_last, both };
    const Moved moved = static_cast<Moved>(rng.below(3));
    const CounterRng same = rng;
    for (const size_t i : {last, last - 1}) {
      if (moved == (i == last ? Moved::before_last : Moved::last)) continue;
      CounterRng moves = same;
      Operands c(op, tried, i);
      for (uint32_t n = 1 + moves.below(4); n > 0; --n) move_a_little(c, moves);
      c.store(tried, i);
    }
    // What was the result of the case before stays it in half of the sequences.
    if (rng.one_in(2)) {
      Operands c(op, tried, last);
      for (size_t at = 0; at < c.size(); ++at)
        if (first[at] == result_at_first && c.named_format(at) == op.d) c[at] = before_last(tried);
      c.store(tried, last);
    }
    const Verdict verdict = judge.judge_anew(tried, registry).back();
    if (!keep(all, tried, last, verdict)) continue;
    all.before.append(tried, last - 1);
    if (verdict.fails) differing.push_back(std::move(tried));
  }
  const Outcomes of_model = judge.units()[1]->outcomes_of(all.before);
  for (size_t i = 0; i < all.before.size(); ++i) all.of_model_before.push_back(of_model.results.get(i));
  return all;
}

}  // namespace mmafuzz
