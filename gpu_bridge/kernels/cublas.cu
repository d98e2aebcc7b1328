#include "gpu_bridge/kernels/cublas.h"

#include <cublas_v2.h>
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "gpu_bridge/cublas_gemm.def.h"

namespace mmafuzz {
namespace {

struct CublasTypes {
  cublasComputeType_t compute;
  cudaDataType operand, result;
};
const CublasTypes types[] = {
#define ROW(unit, a, d, compute, a_type, d_type, arithmetic) {CUBLAS_COMPUTE_##compute, CUDA_R_##a_type, CUDA_R_##d_type},
    MMAFUZZ_CUBLAS(ROW)
#undef ROW
};

/// Variables by which cuBLAS would compute otherwise than it is asked to.
constexpr const char* overrides[] = {"CUBLAS_EMULATE_SINGLE_PRECISION", "CUBLAS_EMULATE_DOUBLE_PRECISION", "CUBLAS_EMULATION_STRATEGY",
                                     "CUBLAS_EMULATION_SPECIAL_VALUES_SUPPORT_MASK", "CUBLAS_FIXEDPOINT_EMULATION_MANTISSA_BIT_COUNT",
                                     "NVIDIA_TF32_OVERRIDE"};

uint64_t stride_of(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

/// Calls lie 256 bytes apart, as allocations do: which kernel cuBLAS takes may depend on the alignment, and must not on the place.
uint8_t* upload(DeviceBytes& memory, const uint8_t* from, uint64_t bytes, uint64_t count) {
  uint8_t* to = memory.reserve(stride_of(bytes) * count);
  check(cudaMemcpy2D(to, stride_of(bytes), from, bytes, bytes, count, cudaMemcpyHostToDevice), "copy to the device");
  return to;
}

}  // namespace

/// The functions that are called, each by its name in the library, and the handle. Two of them are overloaded in the header.
struct CublasLibrary {
  using Gemm = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*, const void*, cudaDataType, int, const void*,
                                  cudaDataType, int, const void*, void*, cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);
  using SetStrategy = cublasStatus_t (*)(cublasHandle_t, cublasEmulationStrategy_t);
  std::string missing;  ///< why there is no cuBLAS; empty: there is
  cublasHandle_t handle = nullptr;
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasGetStatusName) status_name = nullptr;
  decltype(&cublasSetMathMode) set_math_mode = nullptr;
  SetStrategy set_strategy = nullptr;
  decltype(&cublasSetEmulationSpecialValuesSupport) set_specials = nullptr;
  decltype(&cublasSetFixedPointEmulationMantissaControl) set_control = nullptr;
  decltype(&cublasSetFixedPointEmulationMaxMantissaBitCount) set_bits = nullptr;
  Gemm gemm = nullptr;

  CublasLibrary() {
    for (const char* name : overrides) unsetenv(name);
    const char* other = std::getenv("MMAFUZZ_CUBLAS");
    const std::string file = other ? other : "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library && !other) library = dlopen(("/usr/local/cuda/lib64/" + file).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      missing = "cuBLAS cannot be loaded: " + std::string(dlerror()) + "; MMAFUZZ_CUBLAS names its file";
      return;
    }
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (!function) missing = file + " has no " + name + ": it is older than cuBLAS 13.0 update 2";
    };
    find(create, "cublasCreate_v2");
    find(status_name, "cublasGetStatusName");
    find(set_math_mode, "cublasSetMathMode");
    find(set_strategy, "cublasSetEmulationStrategy");
    find(set_specials, "cublasSetEmulationSpecialValuesSupport");
    find(set_control, "cublasSetFixedPointEmulationMantissaControl");
    find(set_bits, "cublasSetFixedPointEmulationMaxMantissaBitCount");
    find(gemm, "cublasGemmEx");
    if (!missing.empty()) return;
    if (const cublasStatus_t status = create(&handle); status != CUBLAS_STATUS_SUCCESS) missing = std::string("cublasCreate: ") + status_name(status);
  }

  /// Everything that the handle remembers, as this call needs it; why that cannot be had, or empty.
  std::string configure(cublasComputeType_t compute, const BlasGemm& call) {
    const cublasMath_t mode = compute == CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT ? CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH
                              : compute == CUBLAS_COMPUTE_32F_EMULATED_16BFX9   ? CUBLAS_FP32_EMULATED_BF16X9_MATH
                                                                                : CUBLAS_DEFAULT_MATH;
    const auto support = call.specials ? CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT : CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_NONE;
    std::string refused;
    const auto must = [&](cublasStatus_t status, const char* what) {
      if (status != CUBLAS_STATUS_SUCCESS && refused.empty()) refused = std::string(what) + ": " + status_name(status);
    };
    must(set_math_mode(handle, mode), "cublasSetMathMode");
    must(set_strategy(handle, mode == CUBLAS_DEFAULT_MATH ? CUBLAS_EMULATION_STRATEGY_DEFAULT : CUBLAS_EMULATION_STRATEGY_EAGER), "cublasSetEmulationStrategy");
    must(set_specials(handle, support), "cublasSetEmulationSpecialValuesSupport");
    must(set_control(handle, CUDA_EMULATION_MANTISSA_CONTROL_FIXED), "cublasSetFixedPointEmulationMantissaControl");
    must(set_bits(handle, call.bits), "cublasSetFixedPointEmulationMaxMantissaBitCount");
    return refused;
  }
};

Cublas::Cublas() = default;
Cublas::~Cublas() = default;

Result<bool> Cublas::gemm(int row, const BlasGemm& call, uint64_t count, const uint8_t* first, const uint8_t* second, uint8_t* result) {
  if (!library_) library_ = std::make_unique<CublasLibrary>();
  CublasLibrary& cublas = *library_;
  if (!cublas.missing.empty()) return declined(cublas.missing);
  const CublasTypes& type = types[row];
  if (const std::string refused = cublas.configure(type.compute, call); !refused.empty()) return declined(refused);

  const CublasRow& formats = cublas_rows()[static_cast<size_t>(row)];
  const auto bytes = [](int x, int y, const Format& format) { return uint64_t(x) * uint64_t(y) * uint64_t(format.storage_bytes()); };
  const uint64_t first_bytes = bytes(call.rows, call.k, formats.operand), second_bytes = bytes(call.columns, call.k, formats.operand);
  const uint64_t result_bytes = bytes(call.rows, call.columns, formats.result);
  const uint8_t* a = upload(first_, first, first_bytes, count);
  const uint8_t* b = upload(second_, second, second_bytes, count);
  uint8_t* c = upload(result_, result, result_bytes, count);
  for (uint64_t i = 0; i < count; ++i) {
    // The scalars have the result's type; the low bytes of an encoding are it.
    const cublasStatus_t status =
        cublas.gemm(cublas.handle, CUBLAS_OP_T, CUBLAS_OP_N, call.rows, call.columns, call.k, &call.alpha, a + i * stride_of(first_bytes), type.operand, call.k,
                    b + i * stride_of(second_bytes), type.operand, call.k, &call.beta, c + i * stride_of(result_bytes), type.result, call.rows, type.compute,
                    CUBLAS_GEMM_DEFAULT);
    if (status == CUBLAS_STATUS_SUCCESS) continue;
    check(cudaDeviceSynchronize(), "cublasGemmEx");
    return declined(std::string("cublasGemmEx: ") + cublas.status_name(status) + " for " + formats.name + " of " + std::to_string(call.rows) + " x " +
                    std::to_string(call.columns) + " x " + std::to_string(call.k));
  }
  check(cudaDeviceSynchronize(), "cublasGemmEx");
  check(cudaMemcpy2D(result, result_bytes, c, stride_of(result_bytes), result_bytes, count, cudaMemcpyDeviceToHost), "copy from the device");
  return true;
}

}  // namespace mmafuzz
