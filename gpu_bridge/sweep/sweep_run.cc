#include "gpu_bridge/sweep/sweep_run.h"

#include <algorithm>
#include <set>

#include "core/case_text.h"
#include "core/contradiction.h"

namespace mmafuzz {

SweepRun::SweepRun(const SweepRequest& first, const Op& op, const Unit& unit, Engine engine, uint64_t first_epoch,
                   uint64_t greatest_epoch)
    : request_(first),
      op_(op),
      unit_(unit),
      engine_(std::move(engine)),
      epoch_(first_epoch),
      greatest_epoch_(greatest_epoch),
      seen_(bins::count) {}

void SweepRun::put(const SweepDot& dot, Batch& batch, size_t index) const {
  for (int i = 0; i < op_.k; ++i) {
    batch.inputs()[0].set(index, i, dot.a[i]);
    batch.inputs()[1].set(index, i, dot.b[i]);
  }
  batch.inputs()[2].set(index, 0, dot.c);
  for (int i = 0; i < op_.scales(); ++i) {
    batch.inputs()[3].set(index, i, dot.scale_a[i]);
    batch.inputs()[4].set(index, i, dot.scale_b[i]);
  }
}

void SweepRun::epoch(uint64_t greatest) {
  SweepRequest request = request_;
  request.first_tile = next_tile_;
  request.tiles = std::min(epoch_, greatest);
  request.parents = static_cast<uint32_t>(parents_.size());
  const SweepAnswer answer = engine_(request, parents_);
  next_tile_ += request.tiles;
  epoch_ = std::min(2 * epoch_, greatest_epoch_);
  seconds_ += answer.seconds;
  divergent_dots_ += answer.divergent_dots;
  for (int i = 0; i < answer.listed; ++i) {
    const bool enough = divergences_.size() >= greatest_kept || std::chrono::steady_clock::now() > reproduce_until_;
    if ((enough && tiles_.size() >= always_reproduced) || unanswered_dots_ > 0)
      break;  // after a lost device, further tiles would lose it again
    if (tiles_.size() < greatest_tiles) tiles_.push_back(answer.tile[i]);
    if (tiles_.size() <= always_reproduced) diagnose(request, answer.tile[i].tile);
    reproduce(request, answer.tile[i]);
  }
  learn(request, answer);
  if (answer.first_impossible != ~uint64_t{0}) report_contradiction(request, answer.first_impossible);
}

/// Traces the dot again on the host and throws a Contradiction with the trace's text and the case.
void SweepRun::report_contradiction(const SweepRequest& request, uint64_t number) const {
  struct FirstText {
    std::string text;
    void hit(int) {}
    void impossible(const char* what) {
      if (text.empty()) text = what;
    }
  } sink;
  SweepRequest one = request;
  const uint64_t cells = static_cast<uint64_t>(request.shape.cells());
  one.first_tile = number / cells;
  one.tiles = 1;
  TileBuffers buffers = generate_tiles(one, parents_before_epoch_);
  const int cell = static_cast<int>(number % cells);
  const sweep::Cell operands(one, buffers.view(), one.first_tile, cell);
  sweep::trace_cell(request.model, operands.in, sink);
  Batch batch(op_, 1);
  put(dot_at(one, buffers.view(), one.first_tile, cell), batch, 0);
  throw Contradiction("the trace of dot " + std::to_string(number) + " of " + unit_.name() + " contradicts itself: " +
                      (sink.text.empty() ? "on the device, not on the host" : sink.text) + ": " + case_line(batch, 0));
}

void SweepRun::diagnose(const SweepRequest& whole, uint64_t tile) {
  if (!run_tiles_) return;
  SweepRequest two = whole;
  two.first_tile = tile > 0 ? tile - 1 : 0;
  two.tiles = 2;
  // The diagnosed tile is the second of two. Tile 0, which has none before it, runs after itself.
  TileBuffers buffers = generate_tiles(two, parents_);
  if (tile == 0) {
    two.tiles = 1;
    const TileBuffers one = generate_tiles(two, parents_);
    const auto twice = [](const std::vector<uint8_t>& from, std::vector<uint8_t>& to) {
      std::copy(from.begin(), from.end(), to.begin());
      std::copy(from.begin(), from.end(), to.begin() + static_cast<std::ptrdiff_t>(from.size()));
    };
    twice(one.a, buffers.a);
    twice(one.b, buffers.b);
    twice(one.c, buffers.c);
    twice(one.scale_a, buffers.scale_a);
    twice(one.scale_b, buffers.scale_b);
  }
  std::string found = diagnose_tile(two, buffers, run_tiles_);
  if (found.empty()) found = "arithmetic: nothing about places or memory explains it";
  if (std::find(diagnoses_.begin(), diagnoses_.end(), found) == diagnoses_.end()) diagnoses_.push_back(found);
}

/// Makes the first dot in each new bin a parent, in the order of the dots' numbers.
void SweepRun::learn(const SweepRequest& request, const SweepAnswer& answer) {
  std::set<uint64_t> first;
  for (size_t bin = 0; bin < seen_.size(); ++bin) {
    if (seen_[bin] || answer.first_of_bin[bin] == ~uint64_t{0}) continue;
    seen_[bin] = true;
    ++seen_bins_;
    first.insert(answer.first_of_bin[bin]);
  }
  parents_before_epoch_ = parents_;
  for (const SweepDot& dot : dots_of(request, parents_before_epoch_, {first.begin(), first.end()}))
    parents_.push_back(dot);
}

void SweepRun::reproduce(const SweepRequest& whole, const DivergentTile& found) {
  SweepRequest request = whole;
  request.first_tile = found.tile;
  request.tiles = 1;
  TileBuffers buffers = generate_tiles(request, parents_);
  const size_t cells = static_cast<size_t>(request.shape.cells());
  Batch batch(op_, cells);
  std::vector<SweepDot> dots;
  std::vector<uint64_t> expected;
  // Consecutive cases share tiles again. If they were cells of one row, their equal rows would hide a fault that
  // exchanges rows. The number of cells is a power of two, so that 37 permutes them.
  const auto place_of = [&](size_t cell) { return cell * 37 % cells; };
  for (size_t cell = 0; cell < cells; ++cell) {
    const sweep::Cell modified(request, buffers.view(), found.tile, static_cast<int>(cell));
    expected.push_back(sweep::claimed_result(request.model, modified.in));
    dots.push_back(dot_at(request, buffers.view(), found.tile, static_cast<int>(cell)));
    put(dots.back(), batch, place_of(cell));
  }
  const Outcomes outcomes = unit_.outcomes_of(batch);
  for (size_t cell = 0; cell < cells; ++cell) {
    if (!outcomes.has_answer(place_of(cell))) {
      ++unanswered_dots_;
      continue;
    }
    const uint64_t got = outcomes.results.get(place_of(cell));
    const bool differs = !sweep::is_as_claimed(request, got, expected[cell]);
    if (differs != found.has(static_cast<int>(cell))) {
      ++unstable_dots_;
      if (unstable_.size() < greatest_unstable) unstable_.push_back(dots[cell]);
    }
    if (differs && divergences_.size() < greatest_kept)
      divergences_.push_back({found.tile * cells + cell, dots[cell], expected[cell], got});
  }
}

TileShape host_sweep_shape(const Op& op) {
  for (const Instruction& i : instructions())
    if (Op with_nans = i.op; i.shape.family == TileFamily::mma) {
      with_nans.nan = op.nan;
      if (with_nans == op) return i.shape;
    }
  TileShape s;
  s.m = 16;
  s.n = 8;
  s.k = op.k;
  s.operand_bits = 8 * std::max(op.a.storage_bytes(), op.b.storage_bytes());
  s.c_bits = 8 * op.c.storage_bytes();
  s.d_bits = 8 * op.d.storage_bytes();
  s.scales = op.scales();
  return s;
}

}  // namespace mmafuzz
