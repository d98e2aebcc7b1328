// What a scheme of residues does to whole matrices, in vectors of fp64 numbers.
#pragma once

#include <cstddef>

namespace mmafuzz::gemm {

/// Of each number times 2^by, below 2^100 in magnitude, the part before the point.
void integers_of(const double* numbers, size_t count, int by, double* integers);

/// Of each integer, below 2^100 in magnitude, its residue in [-p/2, p/2).
void centred_residues(const double* integers, size_t count, int p, int* residues);

/// How residues become a number: the sum of weights times residues, less the nearest multiple of the moduli's product.
/// README.md, "Residues", says what is exact.
struct WeightedSum {
  size_t moduli;
  const double *weights, *low;  ///< of the weights the high and the low halves; low null: there are none
  double inverse, product_high, product_low;
  bool truncated;  ///< the multiple is truncated, not rounded: a flaw
};
/// One number for each element; `residues` are arrays of `count`, one for each modulus.
void weighted_sums(const WeightedSum& sum, const int* const* residues, size_t count, double* numbers);

}  // namespace mmafuzz::gemm
