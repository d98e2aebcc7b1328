// The interface of the CUDA kernels to the device child: one launcher for each row of instructions.def.h, in tables by
// family. The concatenation of the tables, in the order below, is instructions().
#pragma once

#include <span>

#include "gpu_bridge/tiles/tile_memory.h"

namespace mmafuzz {

/// Operand modifiers of wgmma; other instructions ignore them.
struct WgmmaModifiers {
  bool scale_d = true;  ///< false: d = a * b in the first step, whatever c is
  bool negate_a = false, negate_b = false;
  bool shared_a = false;                          ///< a is in shared memory, as b always is
  bool transpose_a = false, transpose_b = false;  ///< transposed in shared memory; 16-bit types only
};

/// Runs `count` tiles (device pointers) on the current device; asynchronous.
using LaunchTiles = void (*)(const Tiles& tiles, uint64_t count, const WgmmaModifiers& modifiers);

using LaunchTable = std::span<const LaunchTiles>;
LaunchTable mma_launches();
LaunchTable f8f6f4_launches();
LaunchTable block_scaled_launches();
LaunchTable sparse_launches();
LaunchTable wgmma_launches();
LaunchTable wmma_launches();

}  // namespace mmafuzz
