// One epoch of a sweep: the request (which tiles to generate, run and compare) and the answer. Plain data, the same on
// host and device. A dot's number in a sweep is tile * cells of a tile + cell; tiles count from 0 over all epochs.
#pragma once

#include <bit>
#include <vector>

#include "arithmetic/bins.h"
#include "arithmetic/dot_model.h"
#include "gpu_bridge/tiles/launch.h"

namespace mmafuzz {

/// The operands of a dot, as encodings. A *parent* is a dot that reached a new bin in an earlier epoch; later dots vary
/// it.
struct SweepDot {
  uint64_t a[max_instruction_k], b[max_instruction_k], c;
  uint64_t scale_a[4], scale_b[4];
};

/// What decides an epoch's operands, besides the parents themselves, and how its results are judged.
struct SweepRequest {
  DotModel model;  ///< the claimed model, which is compared with and traced, and near whose corners operands lie
  TileShape shape;
  int32_t instruction = 0;  ///< index in instructions()
  WgmmaModifiers modifiers;
  uint64_t seed = 0;
  uint64_t first_tile = 0, tiles = 0;
  uint32_t trace_every = 1024;  ///< one tile in this many is traced (traced_tiles)
  uint32_t parents = 0;         ///< how many
  bool any_nan = false;         ///< whether any NaN matches a claimed NaN
};

/// How many of an epoch's tiles, from the first on, are traced: one in trace_every, at least least_traced if there are
/// so many.
inline constexpr uint64_t least_traced = 64;
MMAFUZZ_HD inline uint64_t traced_tiles(const SweepRequest& r) {
  return smaller(r.tiles, larger(r.tiles / r.trace_every, least_traced));
}

/// Which dots of a tile differ, a bit for each cell.
struct DivergentTile {
  static constexpr int words = greatest_cells / 32;
  /// Words of `differs` that a tile of this shape needs: the stride where many tiles are stored.
  MMAFUZZ_HD static constexpr uint64_t words_of(const TileShape& s) {
    return static_cast<uint64_t>(s.cells() + 31) / 32;
  }
  uint64_t tile = 0;  ///< number in the sweep
  uint32_t differs[words] = {};

  MMAFUZZ_HD bool has(int cell) const { return differs[cell / 32] >> (cell % 32) & 1; }
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
  int32_t listed = 0;  ///< entries of `tile`: the divergent tiles with the lowest numbers
  DivergentTile tile[greatest_listed] = {};
  uint64_t first_of_bin[bins::count];        ///< number of the first dot in each bin, ~0 for none
  uint64_t first_impossible = ~uint64_t{0};  ///< number of the first dot whose trace contradicts itself, ~0 for none
};

}  // namespace mmafuzz
