// The kernels of chains and trees of IEEE operations on one dot at a time (arithmetic/kernels/): the domain in which
// they run on hosts and devices, with or without a trace.
#pragma once

#include "arithmetic/specials.h"
#include "arithmetic/trace.h"

namespace mmafuzz {

/// One instruction of one dot. Steps do not show the places of products. Operations are in d's format, or in fp32
/// (KernelTraits).
template <class Trace>
class OneChain {
 public:
  using Code = uint64_t;
  struct Real {
    Number number;
    uint64_t encoding;
  };
  /// What a tree knows of its operands when c joins.
  struct Seen {
    SpecialTerms operands;
    bool overflowed = false;  ///< a product did
  };

  MMAFUZZ_HD OneChain(const DotModel& m, const DotOperands& in, int, const FormatFields& c_format, Trace& trace,
                      Step& step)
      : m_(m), core_(m), in_(in), c_format_(c_format), trace_(trace), step_(step) {
    core_.d = step_format(m);
    if (is_wider()) core_.nan = core_.d.encode_nan();
    rule_.rounding = m.output_rounding;
    if (has_rounded_products()) rule_.overflow = m.overflow;
  }

  MMAFUZZ_HD const DotModel& model() const { return m_; }
  MMAFUZZ_HD void begin_block(int block) const {
    if constexpr (Trace::enabled) step_.block = block;
  }

  MMAFUZZ_HD Real zero() const { return real(0); }
  /// The number of an encoding of the operations' format.
  MMAFUZZ_HD Real real(uint64_t encoding) const { return {decode(core_.d, encoding), encoding}; }
  MMAFUZZ_HD Number a(int i) const { return read(m_.a, in_.a[i]); }
  MMAFUZZ_HD Number b(int i) const { return read(m_.b, in_.b[i]); }
  /// Exact: the format of the operations holds c.
  MMAFUZZ_HD Real addend(uint64_t code) const {
    const Number c = read(c_format_, code);
    return is_wider() ? real(convert_number(core_.d, c, rule_).encoding) : Real{c, code};
  }

  MMAFUZZ_HD Real fma(const Number& x, const Number& y, const Real& z) const {
    const Number term[3] = {x, y, z.number};
    return result(Step::Kind::ieee_fma, term, 3, ieee_fma(core_.d, x, y, z.number, rule_));
  }
  MMAFUZZ_HD Real multiply(const Number& x, const Number& y) const {
    const Number term[2] = {x, y};
    return result(Step::Kind::ieee_multiply, term, 2, ieee_multiply(core_.d, x, y, rule_));
  }
  MMAFUZZ_HD_CALL Real add(const Real& x, const Real& y) const {
    const Number term[2] = {x.number, y.number};
    return result(Step::Kind::ieee_add, term, 2, ieee_add(core_.d, x.number, y.number, rule_));
  }

  /// Product i of a tree, under the row's rule for what overflows.
  MMAFUZZ_HD Real product(int i, Seen& seen) const {
    const Number term[2] = {a(i), b(i)};
    Rounded r = ieee_multiply(core_.d, term[0], term[1], rule_);
    const Exact exact = exact_product(to_exact(term[0]), to_exact(term[1]));
    seen.operands.add(exact.cls, exact.negative);
    if (exact.cls == NumberClass::finite && (r.flags & flag::overflow)) {
      seen.overflowed = true;
      if (m_.product_overflow != ProductOverflow::none)
        r.encoding = core_.d.encode_infinity(r.negative && m_.product_overflow == ProductOverflow::infinity);
    }
    return result(Step::Kind::ieee_multiply, term, 2, r);
  }
  /// c and the products' sum; where an overflow yields to them, infinities and NaNs of operands decide.
  MMAFUZZ_HD Real joined(const Real& c, const Real& sum, Seen& seen) const {
    seen.operands.add(c.number.cls, c.number.negative);
    if (m_.overflow_rank == OverflowRank::below_operands && seen.overflowed && seen.operands.any())
      return real(seen.operands.result(m_.d, m_.nan));
    return add(c, sum);
  }

  MMAFUZZ_HD uint64_t stored(const Real& x) const {
    if (!is_wider()) return x.encoding;
    return x.number.cls == NumberClass::nan ? m_.nan : convert_number(m_.d, x.number, rule_).encoding;
  }

 private:
  MMAFUZZ_HD bool has_rounded_products() const { return traits_of(m_).products == KernelTraits::Products::rounded; }
  MMAFUZZ_HD bool is_wider() const { return traits_of(m_).of_fp32(); }

  /// Subnormal results become zeros where flushed, NaN is the row's.
  MMAFUZZ_HD Real result(Step::Kind kind, const Number* term, int count, const Rounded& r) const {
    const uint64_t encoding = decode(core_.d, r.encoding).cls == NumberClass::nan ? core_.nan : flush_result(core_, r);
    if constexpr (Trace::enabled) {
      step_.kind = kind;
      step_.count = count;
      step_.aligned = false;
      for (int i = 0; i < count; ++i) step_.addend[i] = addend_of(term[i], Addend::Source::partial_sum, i);
      step_.rounded = r;
      step_.result = encoding;
      trace_(step_);
    }
    return real(encoding);
  }

  MMAFUZZ_HD Number read(const FormatFields& f, uint64_t encoding) const {
    if (!is_wider()) {
      Number n = read_operand(m_, f, encoding);
      const bool is_positive = has_rounded_products() && m_.zero_operands == ZeroOperands::positive;
      if (is_positive && n.cls == NumberClass::zero) n.negative = false;
      return n;
    }
    // Operands become fp32 numbers first; those are flushed that are subnormal there.
    Number n = decode_operand(m_, f, encoding);
    if (!flushes(m_) || n.cls != NumberClass::finite) return n;
    if (n.exponent + fast_bit_length(n.significand) - 1 >= core_.d.emin()) return n;
    n.cls = NumberClass::zero;
    n.significand = 0;
    n.negative &= m_.subnormals == Subnormals::flushed_signed;
    return n;
  }

  const DotModel& m_;
  DotModel core_;
  const DotOperands& in_;
  FormatFields c_format_;
  RoundingRule rule_;
  Trace& trace_;
  Step& step_;
};

#define MMAFUZZ_KERNEL MMAFUZZ_HD_CALL
#include "arithmetic/kernels/fma_chain-inl.h"
#include "arithmetic/kernels/fma_then_add-inl.h"
#include "arithmetic/kernels/ieee_tree-inl.h"
#undef MMAFUZZ_KERNEL

}  // namespace mmafuzz
