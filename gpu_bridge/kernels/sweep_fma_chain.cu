// Sweeps against models of this kernel.
#include "gpu_bridge/kernels/sweep_model.cuh"

namespace mmafuzz {

ModelKernels fma_chain_kernels() { return kernels_of<Kernel::fma_chain>(); }

}  // namespace mmafuzz
