// The kernels of chains and trees of IEEE operations on one dot at a time (arithmetic/kernels/): the domain in which
// they run on hosts and devices, with or without a trace.
#pragma once

#include "arithmetic/specials.h"
#include "arithmetic/one_instruction.h"

namespace mmafuzz {

/// One instruction of one dot. Traced steps do not tell which products they belong to. The operations' format is d's,
/// or fp32 where KernelTraits::widens_to_fp32().
template <class Trace>
class OneChain : public OneInstruction<Trace> {
 public:
  struct Real {
    Number number;
    uint64_t encoding;  ///< for an operand that is a NaN: the quiet NaN of the operations' format
    bool is_signalling = false;
  };
  /// What joined() needs of the products of a block of a tree.
  struct Seen {
    SpecialTerms operands;    ///< infinities and NaNs of the exact products
    bool overflowed = false;  ///< a finite product overflowed
  };

  MMAFUZZ_HD OneChain(const DotModel& m, const DotOperands& in, int first_index, const FormatFields& c_format,
                      Trace& trace, Step& step)
      : OneInstruction<Trace>(m, in, first_index, c_format, trace, step), row_(m) {
    row_.d = step_format(m);
    if (converts_last(m)) row_.nan = row_.d.encode_nan();
    rule_.rounding = m.output_rounding;
    rule_.tininess = m.tininess;
    if (has_rounded_products()) rule_.overflow = m.overflow;
  }

  MMAFUZZ_HD Real zero() const { return real(0); }
  /// The number of an encoding of the operations' format, as the next operation reads it.
  MMAFUZZ_HD Real real(uint64_t encoding) const {
    const Number n = decode(row_.d, encoding);
    return {m_.flushed == FlushedNumbers::operands ? flushed_operand(row_, row_.d, n) : n, encoding};
  }
  MMAFUZZ_HD Real a(int i) const { return operand(m_.a, in_.a[i]); }
  MMAFUZZ_HD Real b(int i) const { return operand(m_.b, in_.b[i]); }
  /// c as an operand; widening it to the operations' format is exact.
  MMAFUZZ_HD Real addend(uint64_t code) const {
    const Real c = operand(c_format_, code);
    const bool is_kept =
        !traits_of(m_).widens_to_fp32() || (c.number.cls == NumberClass::nan && m_.nan_from != NanFrom::constant);
    return is_kept ? c : real(convert_number(row_.d, c.number, rule_).encoding);
  }

  MMAFUZZ_HD Real fma(const Real& x, const Real& y, const Real& z) const {
    const Real* const abc[3] = {&x, &y, &z};
    return result(Step::Kind::ieee_fma, abc, ieee_fma(row_.d, x.number, y.number, z.number, rule_));
  }
  MMAFUZZ_HD Real negated(Real x) const {
    if (x.number.cls == NumberClass::nan) return x;
    x.number.negative = !x.number.negative;
    x.encoding ^= row_.d.in_container(row_.d.sign_bit());
    return x;
  }
  MMAFUZZ_HD Real multiply(const Real& x, const Real& y) const {
    const Real* const abc[3] = {&x, &y, nullptr};
    return result(Step::Kind::ieee_multiply, abc, ieee_multiply(row_.d, x.number, y.number, rule_));
  }
  /// x + y; x is the left one of a pair, which is a in the orders of NanFrom.
  MMAFUZZ_HD_CALL Real add(const Real& x, const Real& y) const {
    const Real* const abc[3] = {&x, &y, nullptr};
    return result(Step::Kind::ieee_add, abc, ieee_add(row_.d, x.number, y.number, rule_));
  }

  /// Product i of a tree, under the row's rule for what overflows.
  MMAFUZZ_HD Real product(int i, Seen& seen) const {
    const Real x = a(i), y = b(i);
    Rounded r = ieee_multiply(row_.d, x.number, y.number, rule_);
    const Exact exact = exact_product(to_exact(x.number), to_exact(y.number));
    seen.operands.add(exact.cls, exact.negative);
    if (exact.cls == NumberClass::finite && (r.flags & flag::overflow)) {
      seen.overflowed = true;
      if (m_.product_overflow != ProductOverflow::none)
        r.encoding = row_.d.encode_infinity(r.negative && m_.product_overflow == ProductOverflow::infinity);
    }
    const Real* const abc[3] = {&x, &y, nullptr};
    return result(Step::Kind::ieee_multiply, abc, r);
  }
  /// c plus the sum of a block's products. Under OverflowRank::below_operands, where a product overflowed, infinities
  /// and NaNs of operands decide.
  MMAFUZZ_HD Real joined(const Real& c, const Real& sum, Seen& seen) const {
    seen.operands.add(c.number.cls, c.number.negative);
    if (m_.overflow_rank == OverflowRank::below_operands && seen.overflowed && seen.operands.any())
      return real(seen.operands.result(m_.d, m_.nan));
    const Real* const abc[3] = {&sum, nullptr, &c};
    return result(Step::Kind::ieee_add, abc, ieee_add(row_.d, c.number, sum.number, rule_));
  }

  MMAFUZZ_HD uint64_t stored(const Real& x) const {
    if (!converts_last(m_)) return x.encoding;
    return x.number.cls == NumberClass::nan ? m_.nan : convert_number(m_.d, x.number, rule_).encoding;
  }

 private:
  using Base = OneInstruction<Trace>;
  using Base::m_, Base::in_, Base::c_format_, Base::trace_, Base::step_;

  MMAFUZZ_HD bool has_rounded_products() const { return traits_of(m_).products == KernelTraits::Products::rounded; }

  MMAFUZZ_HD Real operand(const FormatFields& f, uint64_t code) const {
    const Number n = read(f, code);
    if (m_.nan_from == NanFrom::constant) return {n, code};
    const NanOperand nan = nan_operand(row_.d, f, n, code);
    return {n, nan.is_nan ? nan.quiet : code, nan.is_signalling};
  }
  MMAFUZZ_HD uint64_t nan_of(const Real* const* abc) const {
    if (m_.nan_from == NanFrom::constant) return row_.nan;
    NanOperand operand[3];
    for (int i = 0; i < 3; ++i)
      if (abc[i]) operand[i] = {abc[i]->number.cls == NumberClass::nan, abc[i]->is_signalling, abc[i]->encoding};
    const bool invalid = abc[1] && is_invalid_product(abc[0]->number, abc[1]->number);
    return nan_result(m_.nan_from, operand, invalid, row_.nan);
  }

  /// The rounded result of an operation on abc (null: no such operand), flushed and with the NaN that the row says.
  MMAFUZZ_HD Real result(Step::Kind kind, const Real* const* abc, const Rounded& r) const {
    const uint64_t encoding = decode(row_.d, r.encoding).cls == NumberClass::nan ? nan_of(abc) : flush_result(row_, r);
    if constexpr (Trace::enabled) {
      step_.kind = kind;
      step_.count = 0;
      step_.aligned = false;
      // Where c joins a sum (no b), c is the first addend of the step.
      const int first_shown = abc[1] ? 0 : 2;
      for (int i = 0; i < 3; ++i)
        if (const Real* x = abc[(i + first_shown) % 3]) {
          step_.addend[step_.count] = addend_of(x->number, Addend::Source::partial_sum, step_.count);
          ++step_.count;
        }
      step_.rounded = r;
      step_.result = negates_result(m_) ? negated(real(encoding)).encoding : encoding;
      trace_(step_);
    }
    return real(encoding);
  }

  MMAFUZZ_HD Number read(const FormatFields& f, uint64_t encoding) const {
    if (!traits_of(m_).widens_to_fp32()) {
      Number n = read_operand(m_, f, encoding);
      const bool is_positive = has_rounded_products() && m_.zero_operands == ZeroOperands::positive;
      if (is_positive && n.cls == NumberClass::zero) n.negative = false;
      return n;
    }
    // Operands become fp32 numbers first; what is subnormal in fp32 is flushed.
    Number n = decode_operand(m_, f, encoding);
    if (!flushes(m_) || n.cls != NumberClass::finite) return n;
    if (n.exponent + bit_length(n.significand) - 1 >= row_.d.emin()) return n;
    n.cls = NumberClass::zero;
    n.significand = 0;
    n.negative &= m_.subnormals == Subnormals::flushed_signed;
    return n;
  }

  DotModel row_;  ///< the row, with the operations' format as d
  RoundingRule rule_;
};

#define MMAFUZZ_KERNEL MMAFUZZ_HD_CALL
#include "arithmetic/kernels/fma_chain-inl.h"
#include "arithmetic/kernels/fma_then_add-inl.h"
#include "arithmetic/kernels/ieee_tree-inl.h"
#undef MMAFUZZ_KERNEL

}  // namespace mmafuzz
