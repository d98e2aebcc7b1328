// An epoch of a sweep on the host: the same steps as on the device, with any function in place of the instruction.
#pragma once

#include <functional>

#include "gpu_bridge/sweep/sweep_step.h"
#include "gpu_bridge/instructions/tile_placement.h"

namespace mmafuzz {

/// The operands of the request's tiles, as the device generates them.
TileBuffers generate_tiles(const SweepRequest& request, const std::vector<SweepDot>& parents);

/// Compares the tiles' d with the claimed model and traces some of them. Fills `answer` as a device does, but for its
/// seconds.
void compare_tiles(const SweepRequest& request, TileBuffers& tiles, SweepAnswer& answer);

/// Runs an epoch; `instead(operands)` returns the d of a dot, as an encoding.
SweepAnswer sweep_on_host(const SweepRequest& request, const std::vector<SweepDot>& parents,
                          const std::function<uint64_t(const DotOperands&)>& instead);

/// The operands of one dot in memory, without the modifiers. `tile` is a number in the sweep, `cell` row * n + column
/// in it; the first of `tiles` has the number request.first_tile.
SweepDot dot_at(const SweepRequest& request, const Tiles& tiles, uint64_t tile, int cell);

/// The operands of dots of an epoch, whose tiles are generated again. `numbers` (tile * cells of a tile + cell) must
/// ascend.
std::vector<SweepDot> dots_of(const SweepRequest& request, const std::vector<SweepDot>& parents,
                              const std::vector<uint64_t>& numbers);

/// Adds an epoch's divergences to the answer's counts and list. cells[i] is the number of dots that differ in tile i of
/// the epoch (from 0); read_words(i, to) copies that tile's DivergentTile::differs to `to`.
void list_divergent_tiles(const SweepRequest& request, const std::vector<uint32_t>& cells, SweepAnswer& answer,
                          const std::function<void(uint64_t tile, uint32_t* to)>& read_words);

}  // namespace mmafuzz
