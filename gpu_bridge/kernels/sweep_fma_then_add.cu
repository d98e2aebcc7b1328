// Sweeps against models of this kernel.
#include "gpu_bridge/kernels/sweep_model.cuh"

MMAFUZZ_SWEPT_BY(fma_then_add)
