// The matrix products that cuBLAS is asked for: the rows of cublas_gemm.def.h, a call, and the probe that shows whether
// cuBLAS emulates.
#pragma once

#include <string>
#include <vector>

#include "core/format.h"

namespace mmafuzz {

/// One call in the terms of the BLAS: result (rows x columns) = alpha * first^T * second + beta * result, where first
/// is k x rows and second k x columns, all column-major and dense. Plain data.
struct BlasGemm {
  int32_t rows = 0, columns = 0, k = 0;
  int32_t bits = 55;             ///< significand bits that fixed-point emulation retains; 0: cuBLAS chooses them
  int32_t specials = 1;          ///< whether emulation must support infinities and NaNs
  uint64_t alpha = 0, beta = 0;  ///< encodings in the result's format
};

/// The matrices of a sequence of calls, call after call without gaps; elements are encodings of storage_bytes() bytes.
/// `result` is read (times beta) and written.
struct BlasOperands {
  std::vector<uint8_t> first, second, result;
};

struct CublasRow {
  enum class Arithmetic { any, native, emulated };  ///< what a probe must show; any: nothing
  std::string name;                                 ///< what follows `cublas:`
  Format operand, result;
  std::string compute;  ///< what follows CUBLAS_COMPUTE_
  Arithmetic arithmetic = Arithmetic::any;
};

/// All rows, in the order of cublas_gemm.def.h and of the types in kernels/cublas.cu.
const std::vector<CublasRow>& cublas_rows();

/// The index of a name, -1 if there is none.
int find_cublas_row(std::string_view name);

/// The encoding of 1 in a format, floating-point or integer.
uint64_t one_of(const Format& format);

/// Products of one call's shape that distinguish native arithmetic from emulation. Each element of the result is the
/// sum of 1 * 0, of zeros and of one product of full significands whose first factor is about 2^-300 (fp32: 2^-20),
/// beside a 1 in the same row. IEEE arithmetic in any order of summation returns that product rounded to nearest.
/// Fixed-point emulation keeps nothing of the small factor, because its scale is that of the 1; sums of bfloat16
/// products truncate. An emulation that rounds like IEEE arithmetic on all products is not recognized.
struct Probe {
  BlasOperands operands;
  std::vector<uint8_t> native;  ///< the results of IEEE arithmetic, as BlasOperands::result
};
/// A probe of `count` calls; only the shape of `call` is read.
Probe make_probe(const CublasRow& row, const BlasGemm& call, uint64_t count);

}  // namespace mmafuzz
