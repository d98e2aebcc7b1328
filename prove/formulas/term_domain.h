// What the domains of formulas share (arithmetic/kernels/README.md): one instruction whose operands are expressions.
// Its kernel's text makes the formula, and its stages on the way.
#pragma once

#include "arithmetic/specials.h"
#include "prove/formula.h"
#include "prove/formulas/numbers.h"

namespace mmafuzz::prove {

// Functions of masks and encodings that the texts of kernels call. An expression that is none counts as zero.
inline bool any(Expression mask) { return !mask.is_none() && !(mask == as_number(mask, 0)); }
inline bool all(Expression mask) { return !mask.is_none() && mask == as_number(mask, 1); }
inline Expression select(Expression mask, Expression yes, Expression no) {
  return any(mask) ? choose(mask, yes, no) : no;
}
inline Expression greater_of(Expression x, Expression y) { return signed_greater_of(x, y); }

class TermDomain {
 public:
  using Code = Expression;
  using Mask = Expression;

  /// c is an encoding of c_format. The stages get names that begin with `name`.
  TermDomain(const DotModel& m, const Operands& x, const FormatFields& c_format, std::vector<Stage>& stages,
             std::string name = "")
      : m_(m), x_(x), c_format_(c_format), table_(x.a[0].table()), stages_(stages), name_(std::move(name)) {}

  const DotModel& model() const { return m_; }
  Number a(int i) const { return read(read_as(m_, m_.a), x_.a[size_t(i)]); }
  Number b(int i) const { return read(read_as(m_, m_.b), x_.b[size_t(i)]); }
  /// The scales of product i.
  Number scale_a(int i) const { return decoded(m_.scale_a, x_.scale_a[size_t(i / m_.scale_block)]); }
  Number scale_b(int i) const { return decoded(m_.scale_b, x_.scale_b[size_t(i / m_.scale_block)]); }
  void begin_block(int block) const { block_ = m_.k > m_.block ? "block " + std::to_string(block) + ", " : ""; }

 protected:
  /// A product or c, with the exponent at which a sum aligns it: `exponent`, or `zero_reads` if the number is zero.
  struct Aligned {
    Number number;
    Expression exponent, zero_reads;
    Expression aligned_at() const { return choose(number.zero, zero_reads, exponent); }
  };
  /// The exponent of a factor under zero_rule=operand.
  Expression read_exponent(const Number& x) const {
    return choose(x.zero, exponent(operand_rule_zero_exponent), x.exponent);
  }
  /// Product i. `zero_reads`: the exponent at which a zero product is aligned, except under zero_rule=operand.
  Aligned aligned_product(int i, Expression zero_reads) const {
    const Number x = a(i), y = b(i), product = product_of(x, y);
    const Number p = m_.product == ProductRule::normalized ? normalized(product) : product;
    return {p, p.exponent, m_.zero_rule == ZeroRule::operand ? read_exponent(x) + read_exponent(y) : zero_reads};
  }
  Aligned aligned_c(bool c_is_operand, const Number& c, Expression zero_reads) const {
    const FormatFields& f = c_format(c_is_operand);
    const int least = least_exponent_of_c(m_, f);
    // Where subnormal numbers may be aligned below the least exponent of their format, their leading bit says where.
    const bool by_leading_bit = least < f.subnormal_exponent();
    const Number x = by_leading_bit ? normalized(c) : c;
    const bool is_bounded = least > (by_leading_bit ? f.subnormal_bit() : f.subnormal_exponent());
    const Expression aligned_at = is_bounded ? signed_greater_of(x.exponent, exponent(least)) : x.exponent;
    if (m_.c_guard_bits == 0) return {x, aligned_at, zero_reads};
    Number lower = x;
    lower.exponent = x.exponent - exponent(m_.c_guard_bits);
    lower.fraction_bits = x.fraction_bits - m_.c_guard_bits;
    return {lower, aligned_at - exponent(m_.c_guard_bits), zero_reads};
  }

  Expression constant(int width, int64_t value) const { return table_.number(width, value); }
  Expression exponent(int64_t value) const { return table_.number(width_, value); }

  Number decoded(const FormatFields& f, Expression code) const { return decode(f, code, width_); }
  Number read(const FormatFields& f, Expression code) const {
    return read_operand(m_, f, code.is_none() ? constant(f.width, 0) : code, width_);
  }
  /// `c_is_operand`, here and in the domains: c is the instruction's operand, not the result of the block before.
  const FormatFields& c_format(bool c_is_operand) const { return c_is_operand ? c_format_ : m_.d; }

  void note(Stage stage) const {
    stage.name = name_ + block_ + stage.name;
    stages_.push_back(std::move(stage));
  }
  void note(const std::string& name, const Number& x, std::vector<Expression> invariants = {},
            std::vector<Expression> cases = {}) const {
    note({name,
          {x.negative, x.exponent, x.significand, x.zero, x.infinite, x.nan},
          std::move(invariants),
          std::move(cases)});
  }
  const SpecialTerms& noted(const SpecialTerms& s) const {
    note({"specials", {s.nan, s.up, s.down}});
    return s;
  }
  /// The result of a sum: what infinities and NaNs decide, or else `finite`.
  Expression noted_result(const SpecialTerms& s, Expression finite) const {
    const Expression result = choose(noted(s).any(), s.result(m_.d, m_.nan), finite);
    note({"result", {result}});
    return result;
  }

  const DotModel& m_;
  const Operands& x_;
  FormatFields c_format_;
  Expressions& table_;
  std::vector<Stage>& stages_;
  int width_ = exponent_width_of(m_);

 private:
  std::string name_;
  mutable std::string block_;
};

}  // namespace mmafuzz::prove
