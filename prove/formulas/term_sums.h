// The domains of sums of products whose result is a formula: exact sums (kernels/exact_sum-inl.h, sum_then_add-inl.h)
// and sums in two stages (kernels/two_stage_sum-inl.h, docs/semantics.md 7).
#pragma once

#include <algorithm>

#include "prove/formulas/ieee.h"
#include "prove/formulas/term_domain.h"

namespace mmafuzz::prove {

class TermExactDots : public TermDomain {
 public:
  using TermDomain::TermDomain;
  using Sum = std::vector<Number>;  ///< the addends

  Sum nothing() const { return {}; }
  void add_product(Sum& sum, int i) const;
  Code rounded(Sum& sum, int first, int n, bool c_is_operand, Code c) const;
  Code rounded(const Sum& sum, int first, int n) const;
  Code negated(bool c_is_operand, Code code) const;
  Code added(bool c_is_operand, Code c, Code sum) const;

 private:
  /// The sum rounded once, of terms that are multiples of 2^least and below 2^most.
  Code rounded_between(const Sum& sum, int least, int most) const;
  Expression own_nan() const;
  /// The NaN of the products first..first+n-1 where their sum is one (OneExactDot::nan_of).
  Expression nan_of(int first, int n) const;
};

class TermTwoStageDots : public TermDomain {
 public:
  using Int = Expression;
  using Term = Aligned;
  using Addend = Aligned;
  struct Seen {
    std::vector<Number> specials, operands;  ///< a product that overflows is an infinity in `specials` only
  };
  struct Partial {
    Expression sum, greatest;  ///< the sum is in units of 2^(greatest - fraction_bits)
  };
  struct Wide {
    Expression value, unit;  ///< value * 2^unit
  };

  using TermDomain::TermDomain;

  Seen nothing_seen() const { return {}; }
  Term product(int i, Seen& seen) const;
  Partial cut_and_summed(const Term* term, int first, int stride, int n) const;
  Partial joined(const Partial& x, const Partial& y) const;
  Addend addend(bool c_is_operand, Code code, const Partial& products, Seen& seen) const;

  Wide floored(const Partial& p, Int greatest, int below) const;
  Wide floored(const Addend& c, Int greatest, int below) const;
  Wide zero_where_below(const Wide& x, Int at, Int greatest, int bits) const;
  Wide plus(const Wide& x, const Wide& y) const;
  Wide floored_below_leading(const Wide& x, Int, int, int kept) const;

  template <class Stages>
  Code rounded(const Stages&, const Wide& total, const Term*, int, int, const Seen& seen) const {
    return rounded(total, seen);
  }

 private:
  Expression none() const { return exponent(-(1 << (width_ - 2))); }  ///< an exponent below all of a row's
  /// The width of a sum of 64 products below 4 and its sign, with the most fraction bits of the first stage, c and d.
  int sum_width() const {
    return std::max({m_.fraction_bits, int(c_format_.fraction_bits), int(m_.d.fraction_bits)}) + 11;
  }
  Code rounded(const Wide& total, const Seen& seen) const;
};

}  // namespace mmafuzz::prove
