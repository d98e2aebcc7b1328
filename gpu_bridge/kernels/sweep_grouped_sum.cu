// Sweeps against models of this kernel.
#include "gpu_bridge/kernels/sweep_model.cuh"

namespace mmafuzz {

ModelKernels grouped_sum_kernels() { return kernels_of<Kernel::grouped_sum>(); }

}  // namespace mmafuzz
