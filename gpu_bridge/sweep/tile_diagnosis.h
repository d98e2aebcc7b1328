// Says in words what the differing dots of a tile have in common: a bit of a lane, exchanged rows or columns, an
// accumulator of the tile before. This separates errors of placement and memory from different arithmetic.
#pragma once

#include <functional>

#include "gpu_bridge/sweep/sweep_step.h"
#include "gpu_bridge/instructions/tile_placement.h"

namespace mmafuzz {

/// Runs the tiles unchanged and writes their d.
using RunTiles = std::function<void(TileBuffers& tiles)>;

/// Runs tiles `tile - 1` and `tile` (from 1 on) as they lie in the sweep. `tiles` holds the operands of both, the first
/// having number request.first_tile. Empty: the dots differ, but nothing that is known here explains all of them.
std::string diagnose_tile(const SweepRequest& request, TileBuffers& tiles, const RunTiles& run);

}  // namespace mmafuzz
