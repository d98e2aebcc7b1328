// Sweeps against models of this kernel.
#include "gpu_bridge/kernels/sweep_model.cuh"

namespace mmafuzz {

ModelKernels fma_then_add_kernels() { return kernels_of<Kernel::fma_then_add>(); }

}  // namespace mmafuzz
