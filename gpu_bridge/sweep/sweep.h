// A sweep's epoch: which tiles to generate, run and compare, and what comes back of it. Plain data, the same on host
// and device.
#pragma once

#include <bit>
#include <vector>

#include "arithmetic/bins.h"
#include "arithmetic/dot_model.h"
#include "gpu_bridge/tiles/launch.h"

namespace mmafuzz {

/// A dot that reached a new bin in an earlier epoch; later ones are drawn near it.
struct SweepParent {
  uint64_t a[max_instruction_k], b[max_instruction_k], c;
  uint64_t scale_a[4], scale_b[4];
};

/// Everything that decides the operands of a tile, but its number.
struct SweepRequest {
  DotModel model;  ///< the claimed model: compared with, traced, and where the generator's corners are
  TileShape shape;
  int32_t instruction = 0;
  WgmmaModifiers modifiers;
  uint64_t seed = 0;
  uint64_t first_tile = 0, tiles = 0;
  uint32_t trace_every = 1024;  ///< one tile in this many is traced for bins
  uint32_t parents = 0;
  bool any_nan = false;  ///< any NaN matches a claimed NaN
};

/// The first tiles of an epoch are traced: one in trace_every, and no fewer than least_traced.
inline constexpr uint64_t least_traced = 64;
MMAFUZZ_HD inline uint64_t traced_tiles(const SweepRequest& r) {
  return smaller(r.tiles, larger(r.tiles / r.trace_every, least_traced));
}

/// Which dots of a tile differ, a bit for each cell.
struct DivergentTile {
  static constexpr int words = greatest_cells / 32;
  /// Words of a tile of this shape, where tiles lie one after the other.
  MMAFUZZ_HD static constexpr uint64_t words_of(const TileShape& s) {
    return static_cast<uint64_t>(s.cells() + 31) / 32;
  }
  uint64_t tile = 0;
  uint32_t differs[words] = {};

  MMAFUZZ_HD bool at(int cell) const { return differs[cell / 32] >> (cell % 32) & 1; }
  MMAFUZZ_HD void mark(int cell) { differs[cell / 32] |= 1u << (cell % 32); }
  int cells() const {
    int n = 0;
    for (const uint32_t word : differs) n += std::popcount(word);
    return n;
  }
};

struct SweepAnswer {
  static constexpr int greatest_listed = 256;
  uint64_t dots = 0, divergent_dots = 0, divergent_tiles = 0;
  double seconds = 0;  ///< on the device or host, without transfers
  int32_t listed = 0;  ///< the divergent tiles of lowest number
  DivergentTile tile[greatest_listed] = {};
  uint64_t first_of_bin[bins::count];        ///< number (tile * cells + cell) of the first dot in each bin, ~0 for none
  uint64_t first_impossible = ~uint64_t{0};  ///< number of the first dot whose trace contradicts itself, ~0 for none
};

}  // namespace mmafuzz
