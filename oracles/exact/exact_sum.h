// The exact value of alpha * sum a*b + beta * c, and one rounding of it: an accumulator as wide as the products of fp64
// numbers reach. What decides specials and the sign of a zero is collected separately (TermClasses).
#pragma once

#include "oracles/exact/term_summary.h"

namespace mmafuzz::gemm {

/// TermSummary of the k + 1 terms alpha*a*b and beta*c of one element.
struct TermClasses : exact::TermSummary {
  using TermSummary::note;
  /// Notes the term x * factor.
  void note(const Exact& x, const Exact& factor) {
    const Exact term = exact_product({x.cls, x.negative}, {factor.cls, factor.negative});  // class and sign alone
    note(term.cls, term.negative);
  }

  /// Whether an exactly zero sum is -0; without any term it is +0.
  bool zero_sign(Rounding rounding) const {
    return !(all_negative && all_positive) && zero_sum_sign(all_negative, all_positive, rounding);
  }
};

/// The exact sum of multiples of 2^-2300, below 2^2100.
class ExactSum {
 public:
  void add(bool negative, uint128 significand, int exponent) {
    sum_.add_shifted(negative, significand, exponent - unit);
  }
  void add(const Exact& x) {
    if (x.significand) add(x.negative, x.significand, x.exponent);
  }

  /// round(sum + c); `c` finite or zero.
  Rounded rounded_with(const Exact& c, bool zero_negative, const FormatFields& d, const RoundingRule& rule) const {
    WideInt<words> sum = sum_;
    if (c.significand) sum.add_shifted(c.negative, c.significand, c.exponent - unit);
    return round_wide(d, sum, unit, zero_negative, rule);
  }

  /// round(alpha * sum + beta * c), all three finite or zero.
  Rounded rounded_with(const Exact& alpha, const Exact& beta, const Exact& c, bool zero_negative, const FormatFields& d,
                       const RoundingRule& rule) const {
    WideInt<words> magnitude = sum_;
    const bool negative = magnitude.is_negative();
    if (negative) magnitude.negate();
    WideInt<scaled_words> total;
    for (int i = 0; i < words; ++i) {
      if (magnitude.word[i] == 0 || alpha.significand == 0) continue;
      const uint128 part = uint128{magnitude.word[i]} * static_cast<uint64_t>(alpha.significand);
      total.add_shifted(negative != alpha.negative, part, 64 * i + unit + alpha.exponent - scaled_unit);
    }
    const Exact addend = exact_product(beta, c);
    if (addend.significand) total.add_shifted(addend.negative, addend.significand, addend.exponent - scaled_unit);
    return round_wide(d, total, scaled_unit, zero_negative, rule);
  }

 private:
  static constexpr int unit = -2300, words = 70;
  static constexpr int scaled_unit = -3400, scaled_words = 104;
  WideInt<words> sum_;
};

}  // namespace mmafuzz::gemm
