// A sweep's epoch on the host: the same steps as on the device, with any function in place of the tensor core.
#pragma once

#include <functional>

#include "gpu_bridge/sweep/sweep_step.h"
#include "gpu_bridge/instructions/tile_placement.h"

namespace mmafuzz {

/// The operands of the request's tiles, as the device generates them.
TileBuffers generate_tiles(const SweepRequest& request, const std::vector<SweepParent>& parents);

/// Compares the tiles' d with the claimed model and traces some; what a device returns of an epoch.
void compare_tiles(const SweepRequest& request, TileBuffers& tiles, SweepAnswer& answer);

/// `instead(operands)` gives d of each dot.
SweepAnswer sweep_on_host(const SweepRequest& request, const std::vector<SweepParent>& parents,
                          const std::function<uint64_t(const DotOperands&)>& instead);

/// Dot number `cell` of a tile in memory, as a case; the first of `tiles` has number request.first_tile.
SweepParent dot_at(const SweepRequest& request, const Tiles& tiles, uint64_t tile, int cell);

/// The same of dots anywhere in an epoch, generated again; number = tile * cells of a tile + cell, ascending.
std::vector<SweepParent> dots_of(const SweepRequest& request, const std::vector<SweepParent>& parents,
                                 const std::vector<uint64_t>& numbers);

/// Counts divergences by tile and keeps the tiles of lowest number: cells[i] differ in tile i; which, read_words(i, to)
/// says.
void list_divergent_tiles(const SweepRequest& request, const std::vector<uint32_t>& cells, SweepAnswer& answer,
                          const std::function<void(uint64_t tile, uint32_t* to)>& read_words);

}  // namespace mmafuzz
