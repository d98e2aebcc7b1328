#include "gpu_bridge/kernels/cublas.h"

#include <cublas_v2.h>

#include <cstdlib>
#include <cstring>

#include "gpu_bridge/instructions/cublas_gemm.def.h"
#include "gpu_bridge/device/cublas_library.h"

namespace mmafuzz {
namespace {

struct CublasTypes {
  cublasComputeType_t compute;
  cudaDataType operand, result;
};
const CublasTypes types[] = {
#define ROW(unit, a, d, compute, a_type, d_type, arithmetic) \
  {CUBLAS_COMPUTE_##compute, CUDA_R_##a_type, CUDA_R_##d_type},
    MMAFUZZ_CUBLAS(ROW)
#undef ROW
};

/// Environment variables that would make cuBLAS ignore what a call asks for; they are unset.
constexpr const char* overrides[] = {"CUBLAS_EMULATE_SINGLE_PRECISION",
                                     "CUBLAS_EMULATE_DOUBLE_PRECISION",
                                     "CUBLAS_EMULATION_STRATEGY",
                                     "CUBLAS_EMULATION_SPECIAL_VALUES_SUPPORT_MASK",
                                     "CUBLAS_FIXEDPOINT_EMULATION_MANTISSA_BIT_COUNT",
                                     "NVIDIA_TF32_OVERRIDE"};

uint64_t stride_of(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

/// Copies `count` matrices of `bytes` bytes to the device, each aligned to 256 bytes, as allocations are: cuBLAS may
/// choose a CUDA kernel by alignment, which must not vary with a call's position.
uint8_t* upload_matrices(DeviceBytes& memory, const uint8_t* host, uint64_t bytes, uint64_t count) {
  uint8_t* device = memory.reserve(stride_of(bytes) * count);
  check(cudaMemcpy2D(device, stride_of(bytes), host, bytes, bytes, count, cudaMemcpyHostToDevice),
        "copy to the device");
  return device;
}

}  // namespace

/// The functions that are called, and one handle each for native and for emulated calls, so that settings of emulation
/// do not reach native calls. Gemm and SetStrategy are spelled out because the header overloads these functions.
struct CublasLibrary {
  using Gemm = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                                  const void*, cudaDataType, int, const void*, cudaDataType, int, const void*, void*,
                                  cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);
  using SetStrategy = cublasStatus_t (*)(cublasHandle_t, cublasEmulationStrategy_t);
  CublasFile file{CUBLAS_VER_MAJOR};
  cublasHandle_t native = nullptr, emulated = nullptr;
  decltype(&cublasGetStatusName) status_name = nullptr;
  decltype(&cublasSetMathMode) set_math_mode = nullptr;
  Gemm gemm = nullptr;

  CublasLibrary() {
    for (const char* name : overrides) unsetenv(name);
    find(status_name, "cublasGetStatusName");
    find(set_math_mode, "cublasSetMathMode");
    find(gemm, "cublasGemmEx");
  }

  template <class Pointer>
  void find(Pointer& function, const char* name) const {
    function = reinterpret_cast<Pointer>(file.find(name));
  }

  /// The handle with the settings of this call, or why there is none.
  Result<cublasHandle_t> handle_for(cublasComputeType_t compute, const BlasGemm& call) {
    const cublasMath_t mode = compute == CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT ? CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH
                              : compute == CUBLAS_COMPUTE_32F_EMULATED_16BFX9   ? CUBLAS_FP32_EMULATED_BF16X9_MATH
                                                                                : CUBLAS_DEFAULT_MATH;
    const bool emulation = mode != CUBLAS_DEFAULT_MATH;
    if (const std::string lack = file.lacks(emulation); !lack.empty()) return declined(lack);
    std::string refused;
    const auto must = [&](cublasStatus_t status, const char* what) {
      if (status != CUBLAS_STATUS_SUCCESS && refused.empty()) refused = std::string(what) + ": " + status_name(status);
    };
    cublasHandle_t& handle = emulation ? emulated : native;
    if (!handle) {
      decltype(&cublasCreate_v2) create;
      find(create, "cublasCreate_v2");
      must(create(&handle), "cublasCreate");
      if (!refused.empty()) return declined(refused);
    }
    must(set_math_mode(handle, mode), "cublasSetMathMode");
    if (emulation) {
      SetStrategy set_strategy;
      find(set_strategy, "cublasSetEmulationStrategy");
      must(set_strategy(handle, CUBLAS_EMULATION_STRATEGY_EAGER), "cublasSetEmulationStrategy");
      decltype(&cublasSetEmulationSpecialValuesSupport) set_specials;
      find(set_specials, "cublasSetEmulationSpecialValuesSupport");
      must(set_specials(handle, call.specials ? CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT
                                              : CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_NONE),
           "cublasSetEmulationSpecialValuesSupport");
    }
    if (mode == CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH) {  // the only mode that has a number of bits
      decltype(&cublasSetFixedPointEmulationMantissaControl) set_control;
      find(set_control, "cublasSetFixedPointEmulationMantissaControl");
      must(set_control(handle,
                       call.bits ? CUDA_EMULATION_MANTISSA_CONTROL_FIXED : CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC),
           "cublasSetFixedPointEmulationMantissaControl");
      decltype(&cublasSetFixedPointEmulationMaxMantissaBitCount) set_bits;
      find(set_bits, "cublasSetFixedPointEmulationMaxMantissaBitCount");
      must(set_bits(handle, call.bits), "cublasSetFixedPointEmulationMaxMantissaBitCount");
    }
    if (!refused.empty()) return declined(refused);
    return handle;
  }
};

Cublas::Cublas() = default;
Cublas::~Cublas() = default;

Result<bool> Cublas::on_device(int row, const BlasGemm& call, const void* first, const void* second, void* result) {
  if (!library_) library_ = std::make_unique<CublasLibrary>();
  const CublasTypes& type = types[row];
  const Result<cublasHandle_t> handle = library_->handle_for(type.compute, call);
  if (!handle) return handle.refusal();
  // cuBLAS reads alpha and beta in the result's type: the low bytes of an encoding (little-endian).
  const cublasStatus_t status = library_->gemm(
      *handle, CUBLAS_OP_T, CUBLAS_OP_N, call.rows, call.columns, call.k, &call.alpha, first, type.operand, call.k,
      second, type.operand, call.k, &call.beta, result, type.result, call.rows, type.compute, CUBLAS_GEMM_DEFAULT);
  if (status == CUBLAS_STATUS_SUCCESS) return true;
  return declined(std::string("cublasGemmEx: ") + library_->status_name(status) + " for " +
                  cublas_rows()[static_cast<size_t>(row)].name + " of " + std::to_string(call.rows) + " x " +
                  std::to_string(call.columns) + " x " + std::to_string(call.k));
}

Result<bool> Cublas::gemm(int row, const BlasGemm& call, uint64_t count, const uint8_t* first, const uint8_t* second,
                          uint8_t* result) {
  const CublasRow& formats = cublas_rows()[static_cast<size_t>(row)];
  const auto bytes = [](int x, int y, const Format& format) {
    return uint64_t(x) * uint64_t(y) * uint64_t(format.storage_bytes());
  };
  const uint64_t first_bytes = bytes(call.rows, call.k, formats.operand),
                 second_bytes = bytes(call.columns, call.k, formats.operand);
  const uint64_t result_bytes = bytes(call.rows, call.columns, formats.result);
  const uint8_t* a = upload_matrices(first_, first, first_bytes, count);
  const uint8_t* b = upload_matrices(second_, second, second_bytes, count);
  uint8_t* c = upload_matrices(result_, result, result_bytes, count);
  for (uint64_t i = 0; i < count; ++i) {
    const Result<bool> taken = on_device(row, call, a + i * stride_of(first_bytes), b + i * stride_of(second_bytes),
                                         c + i * stride_of(result_bytes));
    if (taken) continue;
    check(cudaDeviceSynchronize(), "cublasGemmEx");
    return taken;
  }
  check(cudaDeviceSynchronize(), "cublasGemmEx");
  check(cudaMemcpy2D(result, result_bytes, c, stride_of(result_bytes), result_bytes, count, cudaMemcpyDeviceToHost),
        "copy from the device");
  return true;
}

}  // namespace mmafuzz
