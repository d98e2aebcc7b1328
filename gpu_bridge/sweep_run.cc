#include "gpu_bridge/sweep_run.h"

#include <algorithm>
#include <map>

namespace mmafuzz {

SweepRun::SweepRun(const SweepRequest& first, const Op& op, const Unit& unit, Engine engine, uint64_t first_epoch, uint64_t greatest_epoch)
    : request_(first), op_(op), unit_(unit), engine_(std::move(engine)), epoch_(first_epoch), greatest_epoch_(greatest_epoch), seen_(bins::count) {}

void SweepRun::put(const SweepParent& dot, Batch& batch, size_t index) const {
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
  for (int i = 0; i < answer.listed; ++i) reproduce(request, answer.tile[i]);
  learn(request, answer);
}

/// Of each new bin the first dot becomes a parent; in the order of their numbers.
void SweepRun::learn(const SweepRequest& request, const SweepAnswer& answer) {
  std::map<uint64_t, bool> first;
  for (size_t bin = 0; bin < seen_.size(); ++bin) {
    if (seen_[bin] || answer.first_of_bin[bin] == ~uint64_t{0}) continue;
    seen_[bin] = true;
    ++seen_bins_;
    first[answer.first_of_bin[bin]] = true;
  }
  const std::vector<SweepParent> before = parents_;
  const uint64_t cells = static_cast<uint64_t>(request.shape.cells());
  for (const auto& [number, unused] : first) parents_.push_back(dot_of_cell(request, before, number / cells, static_cast<int>(number % cells)));
}

void SweepRun::reproduce(const SweepRequest& whole, const DivergentTile& found) {
  SweepRequest request = whole;
  request.first_tile = found.tile;
  request.tiles = 1;
  TileBuffers buffers = generate_tiles(request, parents_);
  const size_t cells = static_cast<size_t>(request.shape.cells());
  Batch batch(op_);
  batch.resize(cells);
  std::vector<SweepParent> dots;
  std::vector<uint64_t> expected;
  for (size_t cell = 0; cell < cells; ++cell) {
    const sweep::Cell modified(request, buffers.view(), found.tile, static_cast<int>(cell));
    expected.push_back(sweep::claimed_result(request.model, modified.in));
    dots.push_back(dot_at(request, buffers.view(), found.tile, static_cast<int>(cell)));
    put(dots.back(), batch, cell);
  }
  Outcomes outcomes;
  unit_.run(batch, outcomes);
  uint32_t again = 0;
  for (size_t cell = 0; cell < cells; ++cell) {
    if (!outcomes.has_answer(cell) || outcomes.results.get(cell) == expected[cell]) continue;
    ++again;
    if (divergences_.size() < greatest_kept) divergences_.push_back({found.tile * cells + cell, dots[cell], expected[cell], outcomes.results.get(cell)});
  }
  if (again < found.cells) unstable_dots_ += found.cells - again;
}

TileShape host_sweep_shape(const Op& op) {
  for (const Instruction& i : instructions())
    if (i.shape.family == TileFamily::mma && i.op == op) return i.shape;
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
