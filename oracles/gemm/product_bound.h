// The error bound of a matrix product of a scheme of slices (`ozaki:`) or of residues (`ozaki2:`), element by
// element: README.md derives it.
#pragma once

#include "core/batch.h"
#include "oracles/gemm/gemm_case.h"
#include "oracles/gemm/judged_error.h"
#include "oracles/gemm/ozaki_unit.h"
#include "oracles/gemm/residues.h"

namespace mmafuzz::gemm {

class ProductBound {
 public:
  /// Whether the unit is of one of these schemes.
  static bool knows(const Unit& unit);
  /// `unit` must be one that knows() accepts, and outlive the object.
  ProductBound(const Unit& unit, const Op& op);

  /// Loads case `index` of the batch, to which holds() then refers.
  void load(const Batch& batch, size_t index);
  /// Whether a result of element `element`, in row-major order, is within its bound; true where no bound is known.
  bool holds(size_t element, uint64_t result, JudgedError& judged);

 private:
  Op op_;
  const OzakiUnit* slices_;
  const ResidueGemm* residues_;
  GemmCase matrices_;
  OzakiGemm::Description cuts_;
  ResidueGemm::Scales scales_;
  Element element_;
};

}  // namespace mmafuzz::gemm
