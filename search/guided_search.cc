#include "search/guided_search.h"

#include <algorithm>

#include "arithmetic/corner_encodings.h"

namespace mmafuzz {

GuidedSearch::GuidedSearch(const Op& op, std::vector<Focus> focuses, uint64_t seed, const Settings& settings)
    : op_(op),
      seed_(seed),
      settings_(settings),
      generator_(op, seed),
      plain_(op, RandomKind::spread, seed),
      quiet_(op, RandomKind::normal, seed),
      focuses_(std::move(focuses)),
      corpus_(op) {
  WalksOfUnits walks(op, seed);
  for (const Focus& focus : focuses_) {
    mutators_.emplace_back(op, focus.hints, settings.left_out);
    relatives_.emplace_back(op, focus.model);
    walks_.push_back(walks.of(focus.hints));
    Known known;
    known.hits.resize(static_cast<size_t>(focus.feedback->features()));
    known.cases.resize(known.hits.size());
    known_.push_back(std::move(known));
  }
}

/// The position in the corpus of a kept case: of some features drawn, the one with the fewest hits decides.
size_t GuidedSearch::pick(const Known& known, CounterRng& rng) const {
  int best = known.reached[rng.below(static_cast<uint32_t>(known.reached.size()))];
  for (int i = 1; i < drawn_features; ++i) {
    const int other = known.reached[rng.below(static_cast<uint32_t>(known.reached.size()))];
    if (known.hits[static_cast<size_t>(other)] < known.hits[static_cast<size_t>(best)]) best = other;
  }
  const std::vector<uint32_t>& cases = known.cases[static_cast<size_t>(best)];
  return cases[rng.below(static_cast<uint32_t>(cases.size()))];
}

GuidedSearch::Round GuidedSearch::round_of(uint64_t chunk) const {
  const uint64_t kind = chunk / focuses_.size() % rounds_of_kinds;
  return !settings_.sequences              ? Round::mixed
         : kind == rounds_of_kinds / 2 - 1 ? Round::sequence
         : kind == rounds_of_kinds - 1     ? Round::quiet
                                           : Round::mixed;
}

uint64_t GuidedSearch::mixed_rounds(uint64_t rounds) const {
  if (!settings_.sequences) return rounds;
  return rounds - rounds / rounds_of_kinds - (rounds + rounds_of_kinds / 2) / rounds_of_kinds;
}

uint64_t GuidedSearch::sharers_of(size_t focus) const {
  return static_cast<uint64_t>(std::count(walks_.begin(), walks_.end(), walks_[focus]));
}

uint64_t GuidedSearch::walked(size_t focus, uint64_t cases, uint64_t chunk_cases) const {
  const uint64_t rounds = cases / (chunk_cases * focuses_.size());
  return settings_.walks ? mixed_rounds(rounds) * chunk_cases * sharers_of(focus) / walk_share : 0;
}

GuidedSearch::Origin GuidedSearch::origin(uint64_t chunk, size_t index, CounterRng& rng) const {
  const size_t focus = static_cast<size_t>(chunk % focuses_.size());
  const bool keeps_any = !known_[focus].reached.empty();
  if (round_of(chunk) == Round::sequence)
    return index % sequence_length ? Origin::relative : keeps_any ? Origin::kept_moved : Origin::fresh_moved;
  if (settings_.walks && walks_[focus]->length() && index % walk_share == 0) return Origin::walk;
  const uint32_t kind = rng.below(settings_.sequences ? 19 : 16);
  if (kind >= 16) return index ? Origin::relative : Origin::fresh_moved;
  if (kind < 2 && settings_.plain) return Origin::plain;
  if (kind < 5) return Origin::fresh;
  if (kind < settings_.kept_from || !keeps_any) return Origin::fresh_moved;
  return kind == 14 ? Origin::kept_crossed : kind == 15 ? Origin::kept_crossed_moved : Origin::kept_moved;
}

/// Factors as workloads have them; c and scales of every exponent. Zeros and subnormal numbers become normal numbers.
void GuidedSearch::fill_quietly(uint64_t first, size_t count, Batch& batch) const {
  quiet_.fill(first, count, batch);
  if (op_.kind == OpKind::dot) {
    Batch spread;
    plain_.fill(first, count, spread);
    for (size_t column = 2; column < batch.inputs().size(); ++column) batch.inputs()[column] = spread.inputs()[column];
  }
  const std::vector<FormatFields> formats = input_formats(op_);
  for (size_t column = 0; column < formats.size(); ++column) {
    const FormatFields& f = formats[column];
    Column& values = batch.inputs()[column];
    for (size_t i = 0; i < count && !f.integer; ++i)
      for (int e = 0; e < values.count(); ++e) {
        const Number n = decode(f, values.get(i, e));
        const int exponent = larger(f.emin(), -(e % 4));  // neighbouring elements differ
        if (n.cls == NumberClass::zero || n.subnormal) values.set(i, e, encode_near(f, n.negative, exponent, 0));
      }
  }
}

void GuidedSearch::propose(uint64_t chunk, uint64_t first, size_t count, Batch& batch) const {
  const size_t focus = static_cast<size_t>(chunk % focuses_.size());
  const Known& known = known_[focus];
  const Mutator& mutator = mutators_[focus];
  if (!(batch.op() == op_)) batch = Batch(op_);
  if (round_of(chunk) == Round::quiet) return fill_quietly(first, count, batch);
  batch.resize(count);
  const DatapathWalks& walks = *walks_[focus];
  Batch plain(op_);
  // Focus units of the same hints share one walk; each takes its part of the walk in every round.
  const auto earlier_sharers =
      static_cast<uint64_t>(std::count(walks_.begin(), walks_.begin() + static_cast<ptrdiff_t>(focus), walks_[focus]));
  const uint64_t length = chunk ? first / chunk : count;  // cases of a chunk; the last chunk may be shorter
  const uint64_t mixed_cases =
      mixed_rounds(settings_.earlier) + mixed_rounds(chunk / focuses_.size()) * focuses_.size() * length;
  const uint64_t walk_case =
      mixed_cases * sharers_of(focus) / (focuses_.size() * walk_share) + earlier_sharers * length / walk_share;
  for (size_t i = 0; i < count; ++i) {
    CounterRng rng = draws_of(first + i);
    const Origin from = origin(chunk, i, rng);
    switch (from) {
      case Origin::walk: walks.make(walks.searched(walk_case + i / walk_share), batch, i); break;
      case Origin::plain:
        plain_.fill(first + i, 1, plain);
        copy_case(plain, 0, batch, i);
        break;
      case Origin::fresh: generator_.draw(first + i, batch, i); break;
      case Origin::fresh_moved:
        generator_.draw(first + i, batch, i);
        mutator.mutate(batch, i, rng);
        break;
      case Origin::relative: relatives_[focus].make(batch, i, generator_, first + i, mutator, rng); break;
      default:
        copy_case(corpus_, pick(known, rng), batch, i);
        if (from != Origin::kept_moved) mutator.cross(batch, i, corpus_, pick(known, rng), rng);
        if (from != Origin::kept_crossed) mutator.mutate(batch, i, rng);
    }
  }
}

GuidedSearch::Observation GuidedSearch::observe(uint64_t chunk, uint64_t first, const Batch& batch) const {
  if (first < warm_up || round_of(chunk) == Round::quiet) return {};
  const size_t focus = static_cast<size_t>(chunk % focuses_.size());
  Batch traced(op_);
  uint64_t mutants = 0, others = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    CounterRng rng = draws_of(first + i);
    const Origin from = origin(chunk, i, rng);
    if (from == Origin::walk) continue;
    const bool due = from < Origin::kept_moved ? others++ % settings_.trace_share_of_others == 0
                                               : mutants++ % settings_.trace_share_of_mutants == 0;
    if (due) traced.append(batch, i);
  }
  return look(focus, traced);
}

GuidedSearch::Observation GuidedSearch::look(size_t focus, const Batch& batch) const {
  Observation seen;
  seen.focus = focus;
  seen.cases = Batch(op_);
  const Known& known = known_[focus];
  FeatureCounts counts(focuses_[focus].feedback->features());
  focuses_[focus].feedback->observe(batch, counts);
  size_t last = SIZE_MAX;  // a case that reaches several new features is kept once
  for (const int feature : counts.reached()) {
    seen.reached.push_back({feature, counts.count(feature)});
    if (known.cases[static_cast<size_t>(feature)].size() >= representatives) continue;
    const size_t index = counts.first_case(feature);
    if (index != last) seen.cases.append(batch, index);
    last = index;
    seen.kept.push_back({feature, seen.cases.size() - 1});
  }
  return seen;
}

void GuidedSearch::learn(const Observation& seen) {
  Known& known = known_[seen.focus];
  for (const auto& [feature, hits] : seen.reached) {
    uint64_t& total = known.hits[static_cast<size_t>(feature)];
    if (total == 0) {
      known.reached.push_back(feature);
      newest_ = {static_cast<int>(seen.focus), feature};
    }
    total += hits;
  }
  std::vector<uint32_t> position(seen.cases.size(), UINT32_MAX);
  for (const auto& [feature, index] : seen.kept) {
    std::vector<uint32_t>& cases = known.cases[static_cast<size_t>(feature)];
    if (cases.size() >= representatives) continue;
    if (position[index] == UINT32_MAX) {
      position[index] = static_cast<uint32_t>(corpus_.size());
      corpus_.append(seen.cases, index);
    }
    cases.push_back(position[index]);
  }
}

size_t GuidedSearch::import(const Batch& batch) {
  const size_t before = corpus_.size();
  for (size_t focus = 0; focus < focuses_.size(); ++focus) learn(look(focus, batch));
  return corpus_.size() - before;
}

}  // namespace mmafuzz
