// What the source files of ResidueGemm share.
#pragma once

#include "oracles/gemm/residues.h"

#include <boost/multiprecision/cpp_int.hpp>

#include "core/host_number.h"
#include "oracles/exact/mpfr_reference.h"

namespace mmafuzz::gemm {

using boost::multiprecision::cpp_int;

/// floor(log2 x) of a positive x.
inline int exponent_of(const cpp_int& x) { return static_cast<int>(msb(x)); }
/// The residue of x modulo p in [-p/2, p/2).
inline int centred(int64_t x, int p) {
  // Two fp64 quotients: the first, of up to 62 bits, can be wrong by a few. A division would take three times as long.
  const double inverse = 1.0 / p;
  int64_t r = x - static_cast<int64_t>(static_cast<double>(x) * inverse) * p;
  r -= static_cast<int64_t>(static_cast<double>(r) * inverse) * p;
  return static_cast<int>(2 * r >= p ? r - p : 2 * r < -p ? r + p : r);
}
/// The residue of a product: in [-p/2, p/2) for s8, in (-p/2, p/2] for FP8, as in GEMMul8, so that sums round alike.
inline int product_residue(int64_t x, int p, const Format& narrow) {
  const int r = centred(x, p);
  return !narrow.fields().integer && 2 * r == -p ? p / 2 : r;
}

inline void set(mpfr_ptr to, const cpp_int& from) { mpfr_set_str(to, from.str().c_str(), 10, MPFR_RNDN); }

/// What follows from the moduli, P being their product.
struct ResidueGemm::Constants {
  cpp_int product;                            ///< P
  std::vector<cpp_int> weights;               ///< by modulus: 1 modulo this one, 0 modulo the others
  std::vector<double> high, low, whole;       ///< the weights as high and low halves, and rounded to fp64
  double inverse, product_high, product_low;  ///< 1/P in fp64; P as two halves
  cpp_int greatest;  ///< the greatest magnitude that reconstruction surely finds (README.md: G)
  exact::Mpfr greatest_in_mpfr{512};
  double log_of_greatest = 0;  ///< to base 2
  std::vector<uint8_t> codes;  ///< [256 + x]: the encoding of x, from -256 to 255, in the narrow format
  int last_bit = 0;            ///< the exponent of the high halves' last bit
  int sum_of_halves = 0;       ///< of all p/2: the greatest sum of residues' magnitudes
};

struct ResidueGemm::Stages {
  Scales scales;
  Lines a, b;                              ///< the scaled integers
  std::vector<std::vector<int>> residues;  ///< [modulus][element]: the residues of the integers' product
};

}  // namespace mmafuzz::gemm
