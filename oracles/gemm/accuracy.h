// How far a product of two matrices is from the exact one, and what each step of a scheme adds to that.
#pragma once

#include <optional>

#include "core/registry.h"

namespace mmafuzz::gemm {

struct AccuracyStep {
  const char* name;
  double norm = 0;   ///< Frobenius norm of what the step adds, over that of the exact product
  double share = 0;  ///< the part of the error that lies along it: the shares' sum is 1
};

struct Accuracy {
  size_t elements = 0, not_finite = 0;  ///< what is not finite, exactly or in the result, is left out
  double norm = 0;                      ///< Frobenius norm of the error, over that of the exact product
  double greatest = 0;                  ///< greatest error of an element, over the sum of its products' magnitudes
  size_t row = 0, column = 0;           ///< where that is
  std::vector<AccuracyStep> steps;      ///< of the family `scaled:`
};

/// Products of the unit that a scheme takes for the matrices' one: of slices, or of residues; nothing of other units.
std::optional<int64_t> narrow_products(const Unit& unit, const Batch& product);

/// The product of a and b: matrices of one case whose op is a gemm with c of zeros.
class ExactProduct {
 public:
  /// Throws std::runtime_error where the formats are wider than fp64.
  ExactProduct(const Registry& registry, const Batch& product);

  /// The accuracy of a unit's results for the same matrices, which `asked` has in the unit's formats.
  Accuracy accuracy_of(const Unit& unit, const Batch& asked, const Column& results) const;

  /// What the accuracy's numbers are at most for these matrices; nothing of units whose bound is not known, or does not
  /// speak of every element.
  struct Proven {
    double norm, greatest;
  };
  std::optional<Proven> proven(const Unit& unit, const Batch& asked, const Column& results) const;

 private:
  using Matrix = std::vector<double>;
  /// a * b + c, each element rounded once to fp64.
  Matrix exact(const Matrix& a, const Matrix& b, const Matrix& c) const;
  std::vector<AccuracyStep> steps_of(const std::string& unit, const Matrix& result) const;

  const Registry& registry_;
  const Batch product_;
  Matrix a_, b_, exact_, magnitudes_;
};

}  // namespace mmafuzz::gemm
