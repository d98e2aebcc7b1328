// The steps of a scheme of residues on whole matrices, in vectors of fp64 numbers.
#pragma once

#include <cstddef>

namespace mmafuzz::gemm {

/// Each number times 2^by, truncated to an integer, which must be below 2^100 in magnitude.
void integers_of(const double* numbers, size_t count, int by, double* integers);

/// The residue of each integer, below 2^100 in magnitude, in [-p/2, p/2).
void centred_residues(const double* integers, size_t count, int p, int* residues);

/// How residues become a number: the sum of weights times residues, less the nearest multiple of the moduli's product
/// P. README.md, "Residues", says what is exact.
struct WeightedSum {
  size_t moduli;                              ///< how many
  const double *weights, *low;                ///< the high and the low halves of the weights; low null: whole weights
  double inverse, product_high, product_low;  ///< 1/P; the halves of P
  bool truncated;                             ///< the multiple is truncated, not rounded: a flaw
};
/// Writes one number for each element; residues[modulus] is an array of `count`.
void weighted_sums(const WeightedSum& sum, const int* const* residues, size_t count, double* numbers);

}  // namespace mmafuzz::gemm
