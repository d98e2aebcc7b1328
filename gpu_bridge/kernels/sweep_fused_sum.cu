// Sweeps against models of this kernel.
#include "gpu_bridge/kernels/sweep_model.cuh"

namespace mmafuzz {

ModelKernels fused_sum_kernels() { return kernels_of<Kernel::fused_sum>(); }

}  // namespace mmafuzz
