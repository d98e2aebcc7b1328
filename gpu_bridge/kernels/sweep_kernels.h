// The generation, comparison and tracing kernels of a sweep. All pointers are the device's; launches are asynchronous.
#pragma once

#include "gpu_bridge/sweep_step.h"

namespace mmafuzz {

void launch_generation(const SweepSource& source, const Tiles& tiles);

/// Adds to cells[i] the dots of tile first_tile + i that differ (start: 0) and lowers first_cell[i] to the first (start: all ones).
using LaunchComparison = void (*)(const SweepSource& source, const Tiles& tiles, uint32_t* cells, uint32_t* first_cell);
/// Lowers first_of_bin (start: all ones) to the number of the first traced dot in each bin.
using LaunchTracing = void (*)(const SweepSource& source, const Tiles& tiles, uint64_t* first_of_bin);

/// What sweeps with one kernel of the models: tracing is nullptr where there is nothing to trace.
struct ModelKernels {
  LaunchComparison compare;
  LaunchTracing trace;
};

// One translation unit each; a model that no matrix instruction of a GPU claims has none.
ModelKernels fused_sum_kernels();
ModelKernels grouped_sum_kernels();
ModelKernels emulated_fp8_kernels();
ModelKernels fma_chain_kernels();
ModelKernels fma_then_add_kernels();
ModelKernels integer_kernels();

/// A faster comparison that gives the same, where the model has one on the architecture (a bit of namespace arch); or nullptr.
LaunchComparison narrow_comparison(const DotModel& model, unsigned on);

}  // namespace mmafuzz
