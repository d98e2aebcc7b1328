// Cases in tiles, and results out of them. Each case has a row of a and a column of b of its own; which ones, and what
// stands in the rows, columns and cells that are left, varies with the tile, because a result must not depend on it.
#pragma once

#include <vector>

#include "core/batch.h"
#include "gpu_bridge/instructions/instructions.h"
#include "gpu_bridge/tiles/tile_memory.h"

namespace mmafuzz {

/// Tiles that own their memory.
struct TileBuffers {
  std::vector<uint8_t> a, b, c, scale_a, scale_b, d;
  int steps = 1;
  uint64_t tiles = 0;
  uint64_t number = 0;  ///< of the first one

  TileBuffers() = default;
  TileBuffers(const TileShape& shape, int steps, uint64_t tiles);
  Tiles view();
};

/// Where a case stands: its row of a and column of c within the tile's matrix, its column of b.
struct Slot {
  uint64_t tile;
  int row, column, b_column;
};
Slot slot_of_case(const TileShape& shape, uint64_t index, uint64_t placement);

/// The batch's cases as tiles; a k that is no multiple of the instruction's is padded with +0, its scales with one.
/// Another `placement` gives other rows, columns and neighbours.
TileBuffers place_cases(const Instruction& instruction, const Batch& batch, uint64_t placement);

/// Results of the cases, from the tiles' d.
void collect_results(const Instruction& instruction, const TileBuffers& tiles, uint64_t placement, size_t cases,
                     Column& results);

}  // namespace mmafuzz
