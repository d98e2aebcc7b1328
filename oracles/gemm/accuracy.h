// How far a product of two matrices is from the exact one, and what each step of a scheme adds to that.
#pragma once

#include <optional>

#include "core/registry.h"

namespace mmafuzz::gemm {

struct AccuracyStep {
  const char* name;
  double norm = 0;   ///< Frobenius norm of what the step adds, over that of the exact product
  double share = 0;  ///< scalar product of the step's part and the error, over that of error and error: shares sum to 1
};

struct Accuracy {
  size_t elements = 0, not_finite = 0;  ///< all elements; those that are left out: not finite, exactly or in the result
  size_t lost = 0;                      ///< of these, the ones that are finite exactly
  double norm = 0;                      ///< Frobenius norm of the error, over that of the exact product
  double greatest = 0;                  ///< greatest error of an element, over the sum of its products' magnitudes
  size_t row = 0, column = 0;           ///< the element of that error
  std::vector<AccuracyStep> steps;      ///< only of units of the family `scaled:`
};

/// How many narrow matrix products a scheme computes for the one of `product`'s first case: products of slices or of
/// residues. nullopt for units of other schemes.
std::optional<int64_t> narrow_products(const Unit& unit, const Batch& product);

/// The exact product of a and b: matrices of one case whose op is a gemm, with a c of zeros.
class ExactProduct {
 public:
  /// Throws std::runtime_error where the formats are wider than fp64, and where no element is finite.
  ExactProduct(const Registry& registry, const Batch& product);

  /// The accuracy of a unit's results for the same matrices, which `inputs` has in the unit's formats.
  Accuracy accuracy_of(const Unit& unit, const Batch& inputs, const Column& results) const;

  /// Upper bounds on Accuracy::norm and greatest for these matrices; nullopt where the unit's error bound, or that of
  /// an element, is not known.
  struct Proven {
    double norm, greatest;
  };
  std::optional<Proven> proven(const Unit& unit, const Batch& inputs, const Column& results) const;

 private:
  using Matrix = std::vector<double>;
  /// a * b + c, each element rounded once to fp64.
  Matrix exact(const Matrix& a, const Matrix& b, const Matrix& c) const;
  std::vector<AccuracyStep> steps_of(const std::string& unit, const Matrix& result) const;

  const Registry& registry_;
  const Batch product_;
  Matrix a_, b_, exact_;
  std::vector<long double> magnitudes_;  ///< long double: neither products nor sums leave its range
};

}  // namespace mmafuzz::gemm
