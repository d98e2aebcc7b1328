// The domain of kernels/fused_sum-inl.h and grouped_sum-inl.h whose result is a formula: all addends are cut at the
// same bit below the greatest exponent, added as integers and rounded once (docs/semantics.md 1 to 4).
#pragma once

#include <algorithm>
#include <optional>

#include "arithmetic/kernel_table.h"
#include "prove/formulas/term_sums.h"

namespace mmafuzz::prove {

/// The encoding of a sum in units of 2^(greatest - fraction_bits), rounded as the row says; zero gives +0. `sum` and
/// `greatest` are in two's complement.
Expression encoded_sum(const DotModel& model, Expression sum, Expression greatest);

/// The maximum of exponents, not computed yet: of `floor`, if it is set, and of all `terms`.
struct Exponents {
  Exponents() = default;
  explicit Exponents(int least) : floor(least) {}
  explicit Exponents(Expression x) : terms{x} {}
  std::optional<int> floor;
  std::vector<Expression> terms;
};
Exponents greater_of(Exponents x, const Exponents& y);

class TermDots : public TermDomain {
 public:
  using TermDomain::TermDomain;
  using Int = Exponents;
  using Seen = std::vector<Number>;
  using Term = Aligned;
  struct Sum {
    Expression value, magnitude, greatest;
  };

  Seen nothing_seen() const { return {}; }
  Mask specials(const Seen& seen) const;

  Term product(int i, Seen& seen) const;
  Term group(int first, int last, Seen& seen) const;
  Term first_sum(int first, int last, Seen& seen) const;
  Term addend(bool c_is_operand, Code code, Seen& seen) const;
  void look_at_addend(Code code, Seen& seen) const { seen.push_back(read(c_format_, code)); }
  Exponents alignment_exponent(const Term& t) const { return Exponents(t.aligned_at()); }

  template <class Terms>
  Code special_result(Terms, const Term* term, int first, int n, bool c_is_operand, Code code) const {
    if (traits_of(m_).floors())
      return ranked_result(first * m_.first_sum, std::min((first + n) * m_.first_sum, m_.k), c_is_operand, code);
    return noted(specials_of(table_, numbers(term, n, read(c_format(c_is_operand), code)))).result(m_.d, m_.nan);
  }
  Sum cut_and_summed(const Term* term, int n, const Term& c, Exponents greatest) const;
  template <class Terms>
  Code rounded(Terms, const Term* term, int, int n, const Term& c, const Exponents&, const Sum& sum) const {
    return rounded(numbers(term, n, c.number), sum);
  }

 private:
  static std::vector<Number> numbers(const Term* term, int n, const Number& c);
  /// Moves the first element to the end. c comes first in the texts; if a formula takes it last, formulas that differ
  /// in c share the nodes that depend on the products alone.
  template <class T>
  static std::vector<T> c_last(std::vector<T> all);
  Expression floor() const { return exponent(m_.zero_exponent); }
  Code rounded(const std::vector<Number>& all, const Sum& sum) const;
  /// What infinities and NaNs of the products first..last-1 and of c decide in a floored sum (docs/semantics.md 13.6).
  Code ranked_result(int first, int last, bool c_is_operand, Code code) const;
  /// An addend in units of 2^(greatest - fraction_bits); with cut=opposed_complement, relative to c's sign.
  Expression cut_by_sign(const Number& x, const Number& c, bool is_c, Expression greatest, int width) const;
};

/// The domain of kernels/bulk_normalized-inl.h.
class TermNormalizedDots : public TermExactDots {
 public:
  using TermExactDots::TermExactDots;
  TermDots products_alone() const { return {m_, x_, c_format_, stages_}; }
};

/// The domain of kernels/emulated_fp8-inl.h: FP8 operands as fp16, dealt to the two fused sums.
class TermEmulatedDots : public TermDomain {
 public:
  TermEmulatedDots(const DotModel& m, const Operands& x, const FormatFields& c_format, std::vector<Stage>& stages);
  TermDots half(int which) const;
  Code joined(Code c, Code sum) const;

 private:
  DotModel half_;
  Operands part_[2];
};

}  // namespace mmafuzz::prove
