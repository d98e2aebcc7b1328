// The proven error bound of a matrix product of a scheme of slices (`ozaki:`) or of residues (`ozaki2:`), element by
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
  /// Whether bounds of the unit are known here.
  static bool knows(const Unit& unit);
  /// `unit` is one that `knows` says, and outlives the bound.
  ProductBound(const Unit& unit, const Op& op);

  void load(const Batch& batch, size_t index);
  /// Whether a result of the loaded case is within its bound.
  bool holds(size_t element, uint64_t result, JudgedError& judged);

 private:
  Op op_;
  const OzakiUnit* slices_;
  const ResidueGemm* residues_;
  GemmCase one_;
  OzakiGemm::Description cuts_;
  ResidueGemm::Scales scales_;
  Element element_;
};

}  // namespace mmafuzz::gemm
