// Puts cases into tiles and reads their results. A tile is what one matrix instruction computes (or a chain of them
// along k). Each case has a row of a and a column of b of its own. Which row and column, and which operands fill the
// remaining rows, columns and cells of c, varies from tile to tile, because a result must not depend on that.
#pragma once

#include <vector>

#include "core/batch.h"
#include "gpu_bridge/instructions/instructions.h"
#include "gpu_bridge/tiles/tile_memory.h"

namespace mmafuzz {

/// Tiles that own their memory; layouts as in tile_memory.h.
struct TileBuffers {
  std::vector<uint8_t> a, b, c, scale_a, scale_b, d;
  int steps = 1;        ///< instructions along k
  uint64_t tiles = 0;   ///< how many tiles
  uint64_t number = 0;  ///< Tiles::number of the first tile

  TileBuffers() = default;
  TileBuffers(const TileShape& shape, int steps, uint64_t tiles);
  Tiles view();
};

/// Where a case lies: number of the tile, row of a and c, column of c, column of b. Rows and b_column count over all
/// matrices of the tile, column within the case's matrix; all from 0.
struct Slot {
  uint64_t tile;
  int row, column, b_column;
};
/// The slot of the case with this index in a batch.
Slot slot_of_case(const TileShape& shape, uint64_t index, uint64_t placement);

/// The batch's cases as tiles. A k that is no multiple of the instruction's is padded with +0, its scales with 1.
/// `placement` is a seed: another one leads to other rows, columns and neighbours of each case.
TileBuffers place_cases(const Instruction& instruction, const Batch& batch, uint64_t placement);

/// Reads the results of the cases from the tiles' d; `placement` must be the one of place_cases.
void collect_results(const Instruction& instruction, const TileBuffers& tiles, uint64_t placement, size_t cases,
                     Column& results);

}  // namespace mmafuzz
