// What cuBLAS's emulation of FP64 computes. It makes each number of a and b a fixed-point number and cuts that into
// digits, signed bytes that INT8 units multiply. A slice is the digits of one place in all numbers of a matrix. Digits
// are those of NVIDIA's example (CUDALibrarySamples, MathDx/cuBLASDx/16_dgemm_emulation), the number of bits that are
// kept is chosen as Schwarz et al. do, arXiv 2511.13778; the rest was measured on an H100 and an H200 (docs/ozaki.md,
// "What cuBLAS computes").
#pragma once

#include <optional>
#include <vector>

#include "core/unit.h"
#include "oracles/gemm/gemm_case.h"

namespace mmafuzz::gemm {

struct CublasPlan {
  int bits = 55;      ///< significand bits that are kept; 0: chosen from the matrices
  int max_bits = 79;  ///< of the chosen bits; beyond it cuBLAS multiplies in native arithmetic
  int offset = 0;     ///< added to the chosen bits
};

class CublasEmulation final : public Unit {
 public:
  /// `op` is a gemm of fp64 matrices.
  CublasEmulation(const CublasPlan& plan, const Op& op);

  /// No answer to a case that cuBLAS multiplies in native arithmetic: with an infinity or a NaN in a or b, or with too
  /// many bits.
  void run(const Batch& batch, Outcomes& outcomes) const override;

  /// A range of k. The numbers of one row of a, or of one column of b, have a common scale in it.
  struct Part {
    int first, length;
  };
  /// How one case is cut. The first digit of a number counts 2^(scale - 7), each further one 256 times less.
  struct Cut {
    int slices = 0;                                           ///< the number of digits of each number
    std::vector<std::vector<int>> row_scales, column_scales;  ///< of a and of b; by part, then row or column
  };
  /// nullopt where cuBLAS does not emulate. a and b as in GemmCase.
  std::optional<Cut> cut(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) const;

  /// Whether a result lies within the scheme's error bound of the exact value; also true where no bound is known: for
  /// an exact value that is not finite, and where a number on the way can overflow.
  bool within_bound(const GemmCase& matrices, const Cut& cut, int row, int column, uint64_t result) const;

 private:
  /// d = alpha * a * b + d: one fused addition for each part.
  void add_products(const GemmCase& matrices, const Cut& cut, double alpha, std::vector<double>& d) const;
  /// The encoding of a result d. A NaN is that of an operand, made quiet (c before beta before alpha), else the
  /// device's own, which is negative.
  uint64_t encoding_of(double d, uint64_t c) const;

  CublasPlan plan_;
  Op op_;
  std::vector<Part> parts_;
  Scalars scalars_;
};

/// The unit as a CublasEmulation, or null for other units.
const CublasEmulation* cublas_emulation_of(const Unit& unit);

}  // namespace mmafuzz::gemm
