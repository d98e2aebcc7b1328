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
    Expression encoding;         ///< for an operand of a row that hands NaNs on, NanTerm::quiet instead
    Expression signalling = {};  ///< one bit: whether it is a signalling NaN; no expression: it is not
  };
  /// The exact products of a tree, later also c; and for each product a bit that says whether it overflows.
  struct Seen {
    std::vector<Number> operands;
    std::vector<Expression> overflows;
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

  /// Product i of a tree, under product_overflow.
  Real product(int i, Seen& seen) const;
  /// c plus the sum of the products. With overflow_rank=below_operands, infinities and NaNs of operands decide the
  /// result where a product overflows.
  Real joined(const Real& c, const Real& sum, Seen& seen) const;

  Code stored(const Real& x) const;

 private:
  bool is_wider() const { return traits_of(m_).widens_to_fp32(); }
  Real operand(const FormatFields& f, Expression code) const;
  /// x + y rounded once. x + y and y + x are the same expression, as products are.
  Expression sum_of(const Real& x, const Real& y) const;
  /// The result `encoding` of an operation, where it is a NaN replaced by the one that nan_from takes of the operands
  /// a, b and c. nullptr: the operation has no such operand. `name` is that of the stage.
  Real result(const std::string& name, Expression encoding, const Real* a, const Real* b, const Real* c) const;

  IeeeRules rules_;
};

}  // namespace mmafuzz::prove
