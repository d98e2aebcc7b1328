// What the differing dots of a tile have in common, in words: a bit of a lane, exchanged rows or columns, an
// accumulator of the tile before. Tells faults of places and of memory from arithmetic that is other than the model's.
#pragma once

#include <functional>

#include "gpu_bridge/sweep/sweep_step.h"
#include "gpu_bridge/instructions/tile_placement.h"

namespace mmafuzz {

/// Runs the tiles as they lie; writes their d.
using RunTiles = std::function<void(TileBuffers& tiles)>;

/// Runs tiles `tile - 1` and `tile` (from 1 on) as they lie in the sweep. `tiles` holds the operands of both, the first
/// having number request.first_tile. Empty: the dots differ, but nothing that is known here explains all of them.
std::string diagnose_tile(const SweepRequest& request, TileBuffers& tiles, const RunTiles& run);

}  // namespace mmafuzz
