// The domain of kernels/fma_chain-inl.h, fma_then_add-inl.h and ieee_tree-inl.h whose result is a formula
// (docs/semantics.md 6 and 8). Operations are in d's format, those of fma_then_add in fp32.
#pragma once

#include "prove/formulas/ieee.h"
#include "prove/formulas/term_domain.h"

namespace mmafuzz::prove {

class TermChains : public TermDomain {
 public:
  struct Real {
    Number number;
    Expression encoding;         ///< of an operand where nan_from hands NaNs on: its NaN's, made quiet in d's format
    Expression signalling = {};  ///< none: it is not
  };
  /// What a tree knows of its operands when c joins.
  struct Seen {
    std::vector<Number> operands;
    std::vector<Expression> overflows;  ///< of products
  };

  TermChains(const DotModel& m, const Operands& x, const FormatFields& c_format, std::vector<Stage>& stages);

  Real zero() const { return real(constant(rules_.format.width, 0)); }
  /// The number of an encoding of the operations' format, as the next operation reads it.
  Real real(Expression encoding) const {
    const Number n = decoded(rules_.format, encoding);
    return {m_.flushed == FlushedNumbers::operands ? flushed_operand(m_, rules_.format, n) : n, encoding};
  }
  Real a(int i) const { return operand(read_as(m_, m_.a), x_.a[size_t(i)]); }
  Real b(int i) const { return operand(read_as(m_, m_.b), x_.b[size_t(i)]); }
  Real addend(Code code) const;

  Real negated(Real x) const;
  Real fma(const Real& x, const Real& y, const Real& z) const;
  Real multiply(const Real& x, const Real& y) const;
  Real add(const Real& x, const Real& y) const;

  /// Product i of a tree, under the row's rule for what overflows.
  Real product(int i, Seen& seen) const;
  /// c and the products' sum; where an overflow yields to them, infinities and NaNs of operands decide.
  Real joined(const Real& c, const Real& sum, Seen& seen) const;

  Code stored(const Real& x) const;

 private:
  bool is_wider() const { return traits_of(m_).of_fp32(); }
  Real operand(const FormatFields& f, Expression code) const;
  /// Like a product of its factors, a sum is one expression whatever the order of its two addends.
  Expression sum_of(const Real& x, const Real& y) const;
  /// The operations' result, whose NaN is what the row says of a, b and c; there may be less of them.
  Real result(const std::string& name, Expression encoding, const Real* a, const Real* b, const Real* c) const;

  IeeeRules rules_;
};

}  // namespace mmafuzz::prove
