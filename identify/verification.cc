#include "identify/verification.h"

#include <algorithm>
#include <numeric>

#include "core/property.h"
#include "search/guided_search.h"

namespace mmafuzz {
namespace {

constexpr uint64_t max_guided = 1 << 17;  ///< cases of the guided search; the walks get the others
constexpr size_t max_at_once = 4096;      ///< cases of one batch
constexpr size_t max_contradictions = 6;  ///< kept of a batch

}  // namespace

Verification::Verification(const Unit& hypothesis, const DotModel* model, const Evidence& asked, Asker& asker,
                           uint64_t seed)
    : hypothesis_(hypothesis),
      model_(model),
      asked_(asked),
      asker_(asker),
      seed_(seed),
      walks_(asked.op(), corner_hints(model), seed),
      contradictions_(asked.op()) {
  for (const DatapathWalks::Part& part : walks_.parts())
    verified_.walks.push_back({part.name, 0, part.pass, part.length});
}

Verification::Result Verification::run(uint64_t cases) {
  if (asker_.seconds_left() <= 0) return Result::held;
  const uint64_t guided = walks_.length() ? std::min(cases, max_guided) : cases;
  const Result result = guided_search(guided);
  if (result != Result::held || asker_.seconds_left() <= 0) return result;
  return walk(cases - guided);
}

/// Small batches at first: a row that is wrong mostly fails at once, and a slow unit is not asked in vain.
size_t Verification::next_size() {
  size_ = std::min({size_ ? size_ * 4 : 16, max_at_once, asker_.at_once()});
  return size_;
}

Verification::Result Verification::guided_search(uint64_t cases) {
  const Op& op = asked_.op();
  std::vector<GuidedSearch::Focus> focuses;
  focuses.push_back({"hypothesis", corner_hints(model_), make_functional_feedback(op, model_)});
  GuidedSearch::Settings settings;
  settings.walks = false;  // they follow
  GuidedSearch search(op, std::move(focuses), seed_, settings);
  uint64_t first = 0;
  for (uint64_t chunk = 0; first < cases; ++chunk) {
    const size_t size = std::min<uint64_t>(next_size(), cases - first);
    Batch batch;
    search.propose(chunk, first, size, batch);
    if (const Result result = compare(batch); result != Result::held) return result;
    verified_.guided = verified_.cases;
    if (asker_.seconds_left() <= 0) return Result::held;
    search.learn(search.observe(chunk, first, batch));
    first += size;
  }
  return Result::held;
}

/// First a pass of each walk, the shortest first; then the rest of each walk, in the other lanes. After that all begin
/// again, and what they leave open is drawn anew.
Verification::Result Verification::walk(uint64_t cases) {
  const std::vector<DatapathWalks::Part>& parts = walks_.parts();
  std::vector<size_t> order(parts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) { return parts[x].pass < parts[y].pass; });
  while (cases && walks_.length()) {
    for (const bool first_pass : {true, false})
      for (const size_t p : order) {
        const uint64_t count = std::min(cases, first_pass ? parts[p].pass : parts[p].length - parts[p].pass);
        if (const Result result = walk_part(p, count); result != Result::held) return result;
        cases -= count;
        if (asker_.seconds_left() <= 0) return Result::held;
      }
  }
  return Result::held;
}

Verification::Result Verification::walk_part(size_t part, uint64_t count) {
  const DatapathWalks::Part& walk = walks_.parts()[part];
  uint64_t& walked = verified_.walks[part].walked;
  for (const uint64_t end = walked + count; walked < end;) {
    const size_t size = std::min<uint64_t>(next_size(), end - walked);
    Batch batch(asked_.op(), size);
    for (size_t i = 0; i < size; ++i) {
      const uint64_t n = walked + i;
      walks_.make(n / walk.length * walks_.length() + walk.first + n % walk.length, batch, i);
    }
    if (const Result result = compare(batch); result != Result::held) return result;
    walked += size;
    if (asker_.seconds_left() <= 0) break;
  }
  return Result::held;
}

Verification::Result Verification::compare(Batch& batch) {
  const Op& op = asked_.op();
  const size_t fresh = batch.size();
  for (size_t i = 0; i < 2 && verified_.cases && asked_.size(); ++i)  // two, which change from batch to batch
    batch.append(asked_.cases().one((verified_.cases * 7 + i * 31) % asked_.size()), 0);
  Outcomes answered, expected;
  if (!asker_.answers(batch, answered)) return Result::stopped;
  hypothesis_.run(batch, expected);
  for (size_t i = 0; i < batch.size() && contradictions_.size() < max_contradictions; ++i) {
    if (!answered.has_answer(i) || answered.has_failed(i)) continue;
    verified_.cases += i < fresh;
    if (same_result(op, answered.results.get(i), expected.results.get(i))) continue;
    contradictions_.append(batch, i);
    answers_.push_back(answered.results.get(i));
  }
  return contradictions_.size() ? Result::differs : Result::held;
}

}  // namespace mmafuzz
