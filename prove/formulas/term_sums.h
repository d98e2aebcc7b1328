// The domains of sums of products whose result is a formula: exact (kernels/exact_sum-inl.h, sum_then_add-inl.h)
// and in two stages (kernels/two_stage_sum-inl.h, 7).
#pragma once

#include <algorithm>

#include "prove/formulas/ieee.h"
#include "prove/formulas/term_domain.h"

namespace mmafuzz::prove {

class TermExactDots : public TermDomain {
 public:
  using TermDomain::TermDomain;
  using Sum = std::vector<Number>;  ///< of all that is added

  Sum nothing() const { return {}; }
  void add_product(Sum& sum, int i) const;
  Code rounded(Sum& sum, int first, int n, bool is_own, Code c) const;
  Code rounded(const Sum& sum, int first, int n) const;
  Code negated(bool is_own, Code code) const;
  Code added(bool is_own, Code c, Code sum) const;

 private:
  /// Every term is a multiple of 2^least below 2^most.
  Code rounded_between(const Sum& sum, int least, int most) const;
  Expression own_nan() const;
  /// The NaN that a block of products gives where it gives one (OneExactDot::nan_of).
  Expression nan_of(int first, int n) const;
};

class TermTwoStageDots : public TermDomain {
 public:
  using Int = Expression;
  using Term = Aligned;
  using Addend = Aligned;
  struct Seen {
    std::vector<Number> specials, operands;  ///< with and without products that overflow
  };
  struct Partial {
    Expression sum, greatest;  ///< at fraction_bits below the greatest exponent
  };
  struct Wide {
    Expression value, unit;
  };

  using TermDomain::TermDomain;

  Seen nothing_seen() const { return {}; }
  Term product(int i, Seen& seen) const;
  Partial cut_and_summed(const Term* term, int first, int stride, int n) const;
  Partial joined(const Partial& x, const Partial& y) const;
  Addend addend(bool is_own, Code code, const Partial& products, Seen& seen) const;

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
  Expression none() const { return exponent(-(1 << (width_ - 2))); }  ///< below every exponent of a row
  /// Bits of a sum in the units of the first stage, or of c in its own: a sign, and 64 products below 4.
  int sum_width() const {
    return std::max({m_.fraction_bits, int(c_format_.fraction_bits), int(m_.d.fraction_bits)}) + 11;
  }
  Code rounded(const Wide& total, const Seen& seen) const;
};

}  // namespace mmafuzz::prove
