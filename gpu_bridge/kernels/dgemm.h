// Products of drawn fp64 matrices for the device child.
#pragma once

#include "gpu_bridge/dgemm/dgemm.h"
#include "gpu_bridge/kernels/cublas.h"

namespace mmafuzz {

/// DeviceBackend::dgemm. Throws std::runtime_error when the device fails.
Result<DgemmAnswer> dgemm_on_device(const DgemmRequest& request, Cublas& cublas);

}  // namespace mmafuzz
