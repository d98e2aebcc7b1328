#include "gpu_bridge/instructions/tile_placement.h"

#include "arithmetic/counter_rng.h"

namespace mmafuzz {
namespace {

/// A random permutation of 0..n-1, n a power of two.
struct Order {
  uint32_t multiplier, offset;
  explicit Order(CounterRng& rng)
      : multiplier(static_cast<uint32_t>(rng.next()) | 1), offset(static_cast<uint32_t>(rng.next())) {}
  int at(int i, int n) const {
    return static_cast<int>((static_cast<uint32_t>(i) * multiplier + offset) % static_cast<uint32_t>(n));
  }
};

/// Writes a or b of case `index`, with its scales, as row or column `vector` of a tile, all steps of it.
void put_vector(const TileShape& s, const Batch& batch, size_t index, bool is_a, int steps, uint64_t tile, int vector,
                TileBuffers& to) {
  const Column& operand = is_a ? batch.a() : batch.b();
  std::vector<uint8_t>& bytes = is_a ? to.a : to.b;
  const int vectors = is_a ? s.rows() : s.columns();
  for (int step = 0; step < steps; ++step) {
    const size_t base = (size_t(tile) * size_t(steps) + size_t(step)) * size_t(vectors);
    for (int i = 0; i < s.k; ++i) {
      const int k = step * s.k + i;
      const size_t element = (base + size_t(vector)) * size_t(s.k) + size_t(i);
      write_element(&bytes[element * size_t(s.operand_bytes())], s.operand_bytes(), 0,
                    k < operand.count() ? operand.get(index, k) : 0);
    }
    for (int i = 0; i < s.scales; ++i) {
      const Column& scales = is_a ? batch.scale_a() : batch.scale_b();
      const FormatFields& f = (is_a ? batch.op().scale_a : batch.op().scale_b).fields();
      const int k = step * s.scales + i;
      const uint64_t one = uint64_t(f.bias) << f.fraction_bits;
      (is_a ? to.scale_a : to.scale_b)[(base + size_t(vector)) * size_t(s.scales) + size_t(i)] =
          static_cast<uint8_t>(k < scales.count() ? scales.get(index, k) : one);
    }
  }
}

void put_c(const TileShape& s, const Batch& batch, size_t index, uint64_t tile, int row, int column, TileBuffers& to) {
  const size_t cell = size_t(tile) * size_t(s.cells()) + size_t(row * s.n + column);
  write_element(&to.c[cell * size_t(s.c_bits / 8)], s.c_bits / 8, 0, batch.c().get(index));
}

}  // namespace

TileBuffers::TileBuffers(const TileShape& shape, int steps, uint64_t tiles) : steps(steps), tiles(tiles) {
  const TileBytes bytes = tile_bytes(shape, steps);
  a.resize(tiles * bytes.a);
  b.resize(tiles * bytes.b);
  c.resize(tiles * bytes.c);
  d.resize(tiles * bytes.d);
  scale_a.resize(tiles * bytes.scale_a);
  scale_b.resize(tiles * bytes.scale_b);
}

Tiles TileBuffers::view() {
  return {.a = a.data(),
          .b = b.data(),
          .c = c.data(),
          .scale_a = scale_a.data(),
          .scale_b = scale_b.data(),
          .d = d.data(),
          .steps = steps,
          .number = number};
}

Slot slot_of_case(const TileShape& s, uint64_t index, uint64_t placement) {
  const uint64_t slots = static_cast<uint64_t>(s.slots());
  const int in_tile = static_cast<int>(index % slots), per_matrix = s.slots() / s.matrices;
  Slot slot;
  slot.tile = index / slots;
  CounterRng rng(placement, slot.tile);
  const Order rows(rng), columns(rng);
  const int matrix = in_tile / per_matrix, i = in_tile % per_matrix;
  slot.row = matrix * s.m + rows.at(i, s.m);
  slot.column = columns.at(i, s.n);
  slot.b_column = matrix * s.n + slot.column;
  return slot;
}

TileBuffers place_cases(const Instruction& instruction, const Batch& batch, uint64_t placement) {
  const TileShape& s = instruction.shape;
  const uint64_t slots = static_cast<uint64_t>(s.slots());
  const int steps = (batch.op().k + s.k - 1) / s.k;
  TileBuffers tiles(s, steps, (batch.size() + slots - 1) / slots);
  tiles.number = placement << 32;  // distinct from those of other placements below 2^32
  for (uint64_t tile = 0; tile < tiles.tiles; ++tile) {
    CounterRng rng(~placement, tile);
    const size_t first = static_cast<size_t>(tile * slots), here = std::min<size_t>(slots, batch.size() - first);
    const auto neighbour = [&] { return first + rng.below(static_cast<uint32_t>(here)); };
    for (int row = 0; row < s.rows(); ++row) put_vector(s, batch, neighbour(), /*is_a=*/true, steps, tile, row, tiles);
    for (int column = 0; column < s.columns(); ++column)
      put_vector(s, batch, neighbour(), /*is_a=*/false, steps, tile, column, tiles);
    for (int row = 0; row < s.rows(); ++row)
      for (int column = 0; column < s.n; ++column) put_c(s, batch, neighbour(), tile, row, column, tiles);
    for (size_t i = first; i < first + here; ++i) {
      const Slot slot = slot_of_case(s, i, placement);
      put_vector(s, batch, i, /*is_a=*/true, steps, tile, slot.row, tiles);
      put_vector(s, batch, i, /*is_a=*/false, steps, tile, slot.b_column, tiles);
      put_c(s, batch, i, tile, slot.row, slot.column, tiles);
    }
  }
  return tiles;
}

void collect_results(const Instruction& instruction, const TileBuffers& tiles, uint64_t placement, size_t cases,
                     Column& results) {
  const TileShape& s = instruction.shape;
  for (size_t i = 0; i < cases; ++i) {
    const Slot slot = slot_of_case(s, i, placement);
    const size_t cell = size_t(slot.tile) * size_t(s.cells()) + size_t(slot.row * s.n + slot.column);
    results.set(i, 0, read_element(&tiles.d[cell * size_t(s.d_bits / 8)], s.d_bits / 8, 0));
  }
}

}  // namespace mmafuzz
