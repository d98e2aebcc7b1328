// The generation, comparison and tracing kernels of a sweep. All pointers are the device's; launches are asynchronous.
#pragma once

#include "gpu_bridge/sweep/sweep_step.h"

namespace mmafuzz {

void launch_generation(const SweepSource& source, const Tiles& tiles);

/// Sets the bit of each dot that differs, in DivergentTile::words_of(shape) words for each tile (start: 0), and adds to
/// cells[i] those of tile first_tile + i (start: 0); sets any to 1 if there is one.
using LaunchComparison = void (*)(const SweepSource& source, const Tiles& tiles, uint32_t* cells, uint32_t* differs,
                                  uint32_t* any);
/// Lowers first_of_bin (start: all ones) to the number of the first dot in each bin; the entry after the last
/// bin is that of the first dot whose trace contradicts itself.
using LaunchTracing = void (*)(const SweepSource& source, const Tiles& tiles, uint64_t* first_of_bin);

/// What sweeps with one kernel of the models: tracing is nullptr where there is nothing to trace.
struct ModelKernels {
  LaunchComparison compare;
  LaunchTracing trace;
};

// One translation unit each; a model that no matrix instruction of a GPU claims has none.
#define MMAFUZZ_SWEPT(KERNEL) \
  KERNEL(fused_sum) KERNEL(grouped_sum) KERNEL(emulated_fp8) KERNEL(fma_chain) KERNEL(fma_then_add)
#define KERNEL(name) ModelKernels name##_kernels();
MMAFUZZ_SWEPT(KERNEL)
#undef KERNEL
ModelKernels integer_kernels();

/// Where a sweep in panels leaves what it found; all start at zero.
struct PanelFindings {
  uint32_t* cells;    ///< divergent dots of each tile of the request
  uint32_t* differs;  ///< DivergentTile::words_of(shape) for each tile
  uint32_t* any;      ///< 1 if anything diverged
};
/// Generates, runs and compares the request's tiles in one kernel, the same operands as launch_generation; false where
/// sweep::claim_fits says no on the architecture (a bit of namespace arch), or the device is too small.
using LaunchPanels = bool (*)(const SweepSource& source, unsigned on, int multiprocessors, const PanelFindings& found);
/// As the launch tables of tiles/launch.h: one for each row.
struct PanelTable {
  const LaunchPanels* first;
  int count;
};
PanelTable mma_panels();
PanelTable f8f6f4_panels();
PanelTable block_scaled_panels();
PanelTable sparse_panels();
PanelTable wgmma_panels();
PanelTable wmma_panels();

}  // namespace mmafuzz
