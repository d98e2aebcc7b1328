// The steps of a scheme of residues on whole matrices, in vectors of fp64 numbers. A product of integer matrices is
// computed modulo several numbers and then put together by the Chinese remainder theorem (docs/ozaki.md).
#pragma once

#include <cstddef>

namespace mmafuzz::gemm {

/// Each number times 2^exponent, truncated to an integer, which must be below 2^100 in magnitude. The integers are fp64
/// numbers, too: no integer type of the vectors has as many bits.
void integers_of(const double* numbers, size_t count, int exponent, double* integers);

/// The residue of each integer, below 2^100 in magnitude, modulo p, in [-p/2, p/2).
void centred_residues(const double* integers, size_t count, int p, int* residues);

/// How residues become a number: the sum of weights times residues, less the nearest multiple of the moduli's product
/// P. A modulus's weight is 1 modulo itself, 0 modulo the others. README.md, "Residues", says what is exact.
struct WeightedSum {
  size_t moduli;                              ///< their number
  const double *high, *low;                   ///< of each modulus, halves of its weight; low null: `high` is the whole
  double inverse, product_high, product_low;  ///< 1/P; the halves of P
  bool truncates;  ///< the multiple is truncated, not rounded: ResidueFlaw::truncated_quotient
};
/// Writes one number for each element; residues[modulus] is an array of `count`.
void weighted_sums(const WeightedSum& sum, const int* const* residues, size_t count, double* numbers);

}  // namespace mmafuzz::gemm
