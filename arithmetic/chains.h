// The kernels of chains of IEEE operations on one dot at a time (arithmetic/kernels/): the domain in which they run on
// hosts and devices, with or without a trace.
#pragma once

#include "arithmetic/ieee_tree.h"

namespace mmafuzz {

/// One instruction of one dot. Operations are in d's format, those of fma_then_add in fp32.
template <class Trace>
class OneChain {
 public:
  using Code = uint64_t;
  struct Real {
    Number number;
    uint64_t encoding;
  };

  MMAFUZZ_HD OneChain(const DotModel& m, const DotOperands& in, const FormatFields& c_format, Trace& trace, Step& step)
      : m_(m), core_(m), in_(in), c_format_(c_format), trace_(trace), step_(step) {
    core_.d = step_format(m);
    if (is_wider()) core_.nan = core_.d.encode_nan();
    rule_.rounding = m.output_rounding;
  }

  MMAFUZZ_HD const DotModel& model() const { return m_; }
  MMAFUZZ_HD void begin_block(int block) const {
    if constexpr (Trace::enabled) step_.block = block;
  }

  MMAFUZZ_HD Real zero() const { return of(0); }
  MMAFUZZ_HD Number a(int i) const { return read(m_.a, in_.a[i]); }
  MMAFUZZ_HD Number b(int i) const { return read(m_.b, in_.b[i]); }
  /// Exact: the format of the operations holds c.
  MMAFUZZ_HD Real addend(uint64_t code) const {
    const Number c = read(c_format_, code);
    return is_wider() ? of(convert_number(core_.d, c, rule_).encoding) : Real{c, code};
  }

  MMAFUZZ_HD Real fma(const Number& x, const Number& y, const Real& z) const {
    const Number term[3] = {x, y, z.number};
    return result(Step::Kind::ieee_fma, term, 3, ieee_fma(core_.d, x, y, z.number, rule_));
  }
  MMAFUZZ_HD Real multiply(const Number& x, const Number& y) const {
    const Number term[2] = {x, y};
    return result(Step::Kind::ieee_multiply, term, 2, ieee_multiply(core_.d, x, y, rule_));
  }
  MMAFUZZ_HD Real add(const Real& x, const Real& y) const {
    return of(tree_add(core_, x.number, y.encoding, trace_, step_));
  }

  MMAFUZZ_HD uint64_t stored(const Real& x) const {
    if (!is_wider()) return x.encoding;
    return x.number.cls == NumberClass::nan ? m_.nan : convert_number(m_.d, x.number, rule_).encoding;
  }

 private:
  MMAFUZZ_HD bool is_wider() const { return m_.kernel == Kernel::fma_then_add; }
  MMAFUZZ_HD Real of(uint64_t encoding) const { return {decode(core_.d, encoding), encoding}; }

  MMAFUZZ_HD Real result(Step::Kind kind, const Number* term, int count, const Rounded& r) const {
    const uint64_t encoding = detail::tree_result(core_, r);
    detail::trace_operation(trace_, step_, kind, term, count, r, encoding);
    return of(encoding);
  }

  /// Where operands become fp32 numbers first, those are flushed that are subnormal there.
  MMAFUZZ_HD Number read(const FormatFields& f, uint64_t encoding) const {
    if (!is_wider()) return read_operand(m_, f, encoding);
    Number n = decode(f, encoding);
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
#undef MMAFUZZ_KERNEL

}  // namespace mmafuzz
