// m8n8k4 of fp16 where there is no tensor core for it (sm_80 and later; docs/semantics.md 8): chains of fp32 FMAs over
// `block` products each, added to c in turn in fp32, and for an fp16 d one conversion at the end, which is not traced.
// Uses block, chain_start, output_rounding (of all operations) and nan.
#pragma once

#include "arithmetic/ieee_tree.h"

namespace mmafuzz {

template <class Trace>
MMAFUZZ_HD_CALL uint64_t fma_then_add(const DotModel& m, const DotOperands& in, int first_index,
                                      const FormatFields& c_format, Trace& trace, Step& step) {
  (void)first_index;
  DotModel core = m;
  core.d = ieee_fields(8, 23);
  core.nan = core.d.encode_nan();
  RoundingRule rule;
  rule.rounding = m.output_rounding;
  uint64_t accumulator = convert_number(core.d, decode(c_format, in.c), rule).encoding;  // exact: c is fp16 or fp32
  for (int first = 0; first < m.k; first += m.block) {
    if constexpr (Trace::enabled) step.block = first / m.block;
    uint64_t chain = 0;
    for (int i = first; i < smaller(first + m.block, m.k); ++i) {
      const Number term[3] = {decode(m.a, in.a[i]), decode(m.b, in.b[i]), decode(core.d, chain)};
      const bool multiplies = i == first && m.chain_start == ChainStart::first_product;
      const Rounded r = multiplies ? ieee_multiply(core.d, term[0], term[1], rule)
                                   : ieee_fma(core.d, term[0], term[1], term[2], rule);
      chain = detail::tree_result(core, r);
      const Step::Kind kind = multiplies ? Step::Kind::ieee_multiply : Step::Kind::ieee_fma;
      detail::trace_operation(trace, step, kind, term, multiplies ? 2 : 3, r, chain);
    }
    accumulator = tree_add(core, accumulator, core.d, chain, trace, step);
  }
  const Number sum = decode(core.d, accumulator);
  const Rounded r = convert_number(m.d, sum, rule);
  return sum.cls == NumberClass::nan ? m.nan : r.encoding;
}

}  // namespace mmafuzz
