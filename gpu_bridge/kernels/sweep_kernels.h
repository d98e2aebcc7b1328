// The CUDA kernels of a sweep: generation, comparison, tracing. All pointers are the device's; launches are
// asynchronous. `source.request` has the numbers of the tiles; `tiles` is their memory.
#pragma once

#include "gpu_bridge/sweep/sweep_step.h"

namespace mmafuzz {

/// Writes a, b, c and scales of the request's tiles.
void launch_generation(const SweepSource& source, const Tiles& tiles);

/// Compares the tiles' d with the claimed results. For each dot that differs it sets the dot's bit in `differs`, which
/// has DivergentTile::words_of(shape) words for each tile, increments cells[i], i being the tile's number minus
/// first_tile, and sets *any to 1. The caller sets all of them to zero before.
using LaunchComparison = void (*)(const SweepSource& source, const Tiles& tiles, uint32_t* cells, uint32_t* differs,
                                  uint32_t* any);
/// Traces all dots of the tiles. Lowers first_of_bin[bin] to the least number (tile * cells + cell) of a dot in the
/// bin, and the entry after the last bin to that of a dot whose trace contradicts itself. The caller sets all entries
/// to ~0.
using LaunchTracing = void (*)(const SweepSource& source, const Tiles& tiles, uint64_t* first_of_bin);

/// The functions for models of one kernel; `trace` is nullptr for integers, which have no trace.
struct ModelKernels {
  LaunchComparison compare;
  LaunchTracing trace;
};

// The kernels (of models) that some matrix instruction claims, each compiled in a translation unit of its own.
#define MMAFUZZ_SWEPT(KERNEL) \
  KERNEL(fused_sum) KERNEL(grouped_sum) KERNEL(emulated_fp8) KERNEL(fma_chain) KERNEL(fma_then_add)
#define KERNEL(name) ModelKernels name##_kernels();
MMAFUZZ_SWEPT(KERNEL)
#undef KERNEL
ModelKernels integer_kernels();

/// The results of a sweep in panels, as LaunchComparison leaves them; the caller sets all to zero before.
struct PanelFindings {
  uint32_t* cells;    ///< divergent dots of each tile of the request
  uint32_t* differs;  ///< DivergentTile::words_of(shape) for each tile
  uint32_t* any;      ///< 1 if anything diverged
};
/// Generates, runs and compares the request's tiles in one CUDA kernel, with the operands of launch_generation. Returns
/// false, having done nothing, where device_arch (a bit of namespace arch) lacks the instruction or fails
/// sweep::claim_fits, or where the device has too little shared memory.
using LaunchPanels = bool (*)(const SweepSource& source, unsigned device_arch, int multiprocessors,
                              const PanelFindings& found);
/// A table as in tiles/launch.h: one launcher for each row of a family.
using PanelTable = std::span<const LaunchPanels>;
PanelTable mma_panels();
PanelTable f8f6f4_panels();
PanelTable block_scaled_panels();
PanelTable sparse_panels();
PanelTable wgmma_panels();
PanelTable wmma_panels();

}  // namespace mmafuzz
