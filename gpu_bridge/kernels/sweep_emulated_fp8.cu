// Sweeps against models of this kernel.
#include "gpu_bridge/kernels/sweep_model.cuh"

namespace mmafuzz {

ModelKernels emulated_fp8_kernels() { return kernels_of<Kernel::emulated_fp8>(); }

}  // namespace mmafuzz
