// What cuBLAS's emulation of FP64 computes: fixed point, cut into signed bytes that INT8 units multiply. Slices and
// digits are those of NVIDIA's example (CUDALibrarySamples, MathDx/cuBLASDx/16_dgemm_emulation), the choice of bits is
// that of Schwarz et al., arXiv 2511.13778; the rest was measured on an H100 and an H200 (docs/ozaki.md, "What cuBLAS
// computes").
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

  /// Products along k that share their scales.
  struct Part {
    int first, length;
  };
  /// How one case is cut: a number of row i of a, in part p, is a sum of digits of base 256 times 2^(a[p][i] - 7),
  /// 2^(a[p][i] - 15), ...: one for each slice; columns of b likewise.
  struct Cut {
    int slices = 0;
    std::vector<std::vector<int>> a, b;
  };
  /// nullopt where cuBLAS does not emulate. a and b as in GemmCase.
  std::optional<Cut> cut(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) const;

  /// Whether a result lies within the scheme's error bound of the exact value; also true where no bound is known: for
  /// an exact value that is not finite, and where a number on the way can overflow.
  bool within_bound(const GemmCase& matrices, const Cut& cut, int row, int column, uint64_t result) const;

 private:
  /// d = alpha * a * b + d: one fused addition for each part.
  void add_products(const GemmCase& matrices, const Cut& cut, double alpha, std::vector<double>& d) const;
  uint64_t encoding_of(double d, uint64_t c) const;

  CublasPlan plan_;
  Op op_;
  std::vector<Part> parts_;
  Scalars scalars_;
};

/// The unit as a CublasEmulation, or null for other units.
const CublasEmulation* cublas_emulation_of(const Unit& unit);

}  // namespace mmafuzz::gemm
