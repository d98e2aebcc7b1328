// A libcublas that computes on the host, with pointers of the host: cublasGemmEx by its own definition, for every
// transposition, leading dimension and scalar. Sums are exact for the integers that tests multiply. An emulated product
// gives, in each element, the significand bits that the handle was told: -1 where the rest was not asked for.
#include <cublas_v2.h>

#include <cmath>
#include <cstdint>
#include <cstring>

struct cublasContext {
  cublasMath_t mode = CUBLAS_DEFAULT_MATH;
  bool eager = false, fixed = false, specials = true;
  int bits = -1;
};

namespace {

double number(const void* at, cudaDataType type, int64_t index) {
  switch (type) {
    case CUDA_R_64F: return static_cast<const double*>(at)[index];
    case CUDA_R_32F: return static_cast<const float*>(at)[index];
    case CUDA_R_32I: return static_cast<const int32_t*>(at)[index];
    case CUDA_R_8I: return static_cast<const int8_t*>(at)[index];
    case CUDA_R_16F: {
      const int bits = static_cast<const uint16_t*>(at)[index], exponent = bits >> 10 & 31;
      const double magnitude = std::ldexp((bits & 1023) | (exponent ? 1024 : 0), (exponent ? exponent : 1) - 25);
      return bits >> 15 ? -magnitude : magnitude;
    }
    default: return NAN;
  }
}
void put(void* at, cudaDataType type, int64_t index, double value) {
  if (type == CUDA_R_64F) static_cast<double*>(at)[index] = value;
  if (type == CUDA_R_32F) static_cast<float*>(at)[index] = static_cast<float>(value);
  if (type == CUDA_R_32I) static_cast<int32_t*>(at)[index] = static_cast<int32_t>(value);
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusName(cublasStatus_t) { return "CUBLAS_STATUS_INVALID_VALUE"; }
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  handle->mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetEmulationStrategy(cublasHandle_t handle, cublasEmulationStrategy_t strategy) {
  handle->eager = strategy == CUBLAS_EMULATION_STRATEGY_EAGER;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetEmulationSpecialValuesSupport(cublasHandle_t handle,
                                                      cudaEmulationSpecialValuesSupport support) {
  handle->specials = support != CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_NONE;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetFixedPointEmulationMantissaControl(cublasHandle_t handle, cudaEmulationMantissaControl how) {
  handle->fixed = how == CUDA_EMULATION_MANTISSA_CONTROL_FIXED;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetFixedPointEmulationMaxMantissaBitCount(cublasHandle_t handle, int bits) {
  handle->bits = bits;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                            const void* alpha, const void* a, cudaDataType a_type, int lda, const void* b,
                            cudaDataType b_type, int ldb, const void* beta, void* c, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
  const bool emulated = compute == CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT;
  if (emulated != (handle->mode == CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH)) return CUBLAS_STATUS_INVALID_VALUE;
  if (lda < (op_a == CUBLAS_OP_N ? m : k) || ldb < (op_b == CUBLAS_OP_N ? k : n) || ldc < m)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (a_type == CUDA_R_8I && (lda % 4 || ldb % 4 || c_type != CUDA_R_32I)) return CUBLAS_STATUS_INVALID_VALUE;
  const double times = number(alpha, c_type, 0), rest = number(beta, c_type, 0);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < m; ++i) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += number(a, a_type, op_a == CUBLAS_OP_N ? l * lda + i : i * lda + l) *
               number(b, b_type, op_b == CUBLAS_OP_N ? j * ldb + l : l * ldb + j);
      if (emulated) sum = handle->eager && handle->fixed && handle->specials ? handle->bits : -1;
      put(c, c_type, j * ldc + i, times * sum + (rest != 0 ? rest * number(c, c_type, j * ldc + i) : 0));
    }
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
