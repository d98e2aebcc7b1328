// A chain of IEEE fused multiply-adds from c in index order, each rounded to d's format (docs/semantics.md 8). Uses
// output_rounding and nan.
#pragma once

#include "arithmetic/ieee_tree.h"

namespace mmafuzz {

template <class Trace>
MMAFUZZ_HD_CALL uint64_t fma_chain(const DotModel& m, const DotOperands& in, int first_index,
                                   const FormatFields& c_format, Trace& trace, Step& step) {
  RoundingRule rule;
  rule.rounding = m.output_rounding;
  Number accumulator = read_operand(m, c_format, in.c);
  uint64_t encoding = in.c;
  for (int i = 0; i < m.k; ++i) {
    const Number term[3] = {read_operand(m, m.a, in.a[i]), read_operand(m, m.b, in.b[i]), accumulator};
    const Rounded r = ieee_fma(m.d, term[0], term[1], term[2], rule);
    encoding = detail::tree_result(m, r);
    accumulator = decode(m.d, encoding);
    if constexpr (Trace::enabled) step.block = i;
    detail::trace_operation(trace, step, Step::Kind::ieee_fma, term, 3, r, encoding);
  }
  (void)first_index;
  return encoding;
}

}  // namespace mmafuzz
