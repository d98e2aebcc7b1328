// cuBLAS for the device child. The shared library is loaded at the first call, so that the executable starts without
// it.
#pragma once

#include <memory>

#include "gpu_bridge/instructions/cublas_gemm.h"
#include "gpu_bridge/kernels/device_memory.h"

namespace mmafuzz {

struct CublasLibrary;

class Cublas {
 public:
  Cublas();
  ~Cublas();
  /// DeviceBackend::gemm. Throws std::runtime_error when the device fails.
  Result<bool> gemm(int row, const BlasGemm& call, uint64_t count, const uint8_t* first, const uint8_t* second,
                    uint8_t* result);
  /// One call on matrices in device memory, asynchronous. Declined as DeviceBackend::gemm.
  Result<bool> on_device(int row, const BlasGemm& call, const void* first, const void* second, void* result);

 private:
  std::unique_ptr<CublasLibrary> library_;  ///< nullptr before the first call
  DeviceBytes first_, second_, result_;
};

}  // namespace mmafuzz
