// What the parts of ResidueGemm share.
#pragma once

#include "oracles/gemm/residues.h"

#include <boost/multiprecision/cpp_int.hpp>

#include "core/host_number.h"
#include "oracles/exact/mpfr_reference.h"

namespace mmafuzz::gemm {

using boost::multiprecision::cpp_int;

inline int exponent_of(const cpp_int& x) { return static_cast<int>(msb(x)); }
/// In [-p/2, p/2).
inline int centred(int64_t x, int p) {
  // Twice a quotient that is too small by a few: of 62 bits, then of few. A division would take three times as long.
  const double inverse = 1.0 / p;
  int64_t r = x - static_cast<int64_t>(static_cast<double>(x) * inverse) * p;
  r -= static_cast<int64_t>(static_cast<double>(r) * inverse) * p;
  return static_cast<int>(2 * r >= p ? r - p : 2 * r < -p ? r + p : r);
}
/// Of a product of digits half of p is positive, as in GEMMul8: its weighted sum is rounded another way.
inline int product_residue(int64_t x, int p, bool of_s8) {
  const int r = centred(x, p);
  return !of_s8 && 2 * r == -p ? p / 2 : r;
}

inline bool is_finite(const Number& n) { return n.cls == NumberClass::finite || n.cls == NumberClass::zero; }

/// What follows from the moduli alone.
struct ResidueGemm::Constants {
  cpp_int product;
  std::vector<cpp_int> weights;          ///< 1 modulo one modulus, 0 modulo the others
  std::vector<double> high, low, whole;  ///< the weights in halves, and rounded to fp64
  double inverse, product_high, product_low;
  cpp_int greatest;            ///< magnitude of an integer that reconstruction surely finds
  exact::Mpfr limit{512};      ///< the same
  double limit_log = 0;        ///< its logarithm
  std::vector<uint8_t> codes;  ///< of -256 to 255 in the narrow format, where they are its numbers
  int unit = 0;                ///< exponent of the last bit of the high halves
  int residues = 0;            ///< the greatest sum of residues' magnitudes
};

struct ResidueGemm::Stages {
  Scales by;
  Lines a, b;                              ///< of integers
  std::vector<std::vector<int>> residues;  ///< of the integers' product, by modulus and element
};

}  // namespace mmafuzz::gemm
