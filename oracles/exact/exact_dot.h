// The exact dot product d = round(c + sum a[i]*b[i] (* scales)), rounded once as the op says; NaN canonical quiet; an
// exact zero has the sign that IEEE 754-2019 6.3 gives a sum. Three independent ways of computing it:
#pragma once

#include "arithmetic/dot_model.h"
#include "core/op.h"

namespace mmafuzz::exact {

/// True for an op that exact dots are defined for; otherwise a refusal with the reason.
Result<bool> supports_dot(const Op& op);

/// The referee: every product and sum exact in MPFR (checked by MPFR's ternary value), rounded by mpfr_rint functions.
uint64_t mpfr_dot(const Op& op, const DotOperands& in);

/// The twin: fixed point in boost::multiprecision::cpp_int, rounded by a search among codes; shares nothing with the
/// others but FormatFields.
uint64_t bigint_dot(const Op& op, const DotOperands& in);

/// The fast path: a fixed-width accumulator as wide as the op's exponent range. The constructor throws Contradiction
/// for an op that needs more than max_words words.
class FastDot {
 public:
  explicit FastDot(const Op& op);
  uint64_t operator()(const DotOperands& in) const;

 private:
  template <int Words>
  uint64_t evaluate(const DotOperands& in) const;

  FormatFields a_, b_, c_, d_, scale_a_, scale_b_;
  RoundingRule rule_;
  int scale_block_;
  bool flushes_;  ///< ftz=1
  int unit_;      ///< weight exponent of the accumulator's last bit
  /// fp64 operands with fp64 scales span 8,400 bits, and the sum of 65,536 products 17 more.
  static constexpr int max_words = 140;
  int words_;  ///< 64-bit words of the accumulator: 5, 10, 80 or max_words
};

}  // namespace mmafuzz::exact
