// The generation and comparison kernels of a sweep. All pointers are the device's.
#pragma once

#include "gpu_bridge/sweep_step.h"

namespace mmafuzz {

void launch_generation(const SweepSource& source, const Tiles& tiles);
/// Adds to cells[i] the dots of tile first_tile + i that differ (start: 0) and lowers first_cell[i] to the first (start: all ones).
void launch_comparison(const SweepSource& source, const Tiles& tiles, uint32_t* cells, uint32_t* first_cell);
/// first_of_bin must start as all ones.
void launch_tracing(const SweepSource& source, const Tiles& tiles, uint64_t* first_of_bin);

}  // namespace mmafuzz
