// What the kernels offer to the device child: one launcher for each row of instructions.def.h, in the table's order.
#pragma once

#include "gpu_bridge/tiles/tile_memory.h"

namespace mmafuzz {

/// Operand modifiers of wgmma; other instructions ignore them.
struct WgmmaModifiers {
  bool scale_d = true;  ///< false: d = a * b, c is not read
  bool negate_a = false, negate_b = false;
  bool shared_a = false;                          ///< a, too, is read from shared memory
  bool transpose_a = false, transpose_b = false;  ///< how shared memory holds them; 16-bit types only
};

/// Runs `count` tiles (device pointers) on the current device; asynchronous.
using LaunchTiles = void (*)(const Tiles& tiles, uint64_t count, const WgmmaModifiers& modifiers);

struct LaunchTable {
  const LaunchTiles* first;
  int count;
};
LaunchTable mma_launches();
LaunchTable f8f6f4_launches();
LaunchTable block_scaled_launches();
LaunchTable sparse_launches();
LaunchTable wgmma_launches();
LaunchTable wmma_launches();

}  // namespace mmafuzz
