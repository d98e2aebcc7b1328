// m8n8k4 of fp16 where there is no tensor core for it (sm_80 and later), and AMX's tiles (docs/semantics.md 8): chains
// of fp32 FMAs over `block` products each, added to c in turn or by their sum in fp32, and for an fp16 d one conversion
// at the end, which is not traced. Uses block, chain_start, chain_join, output_rounding (of all operations), subnormals
// (those of fp32: what a narrower operand becomes there is normal) and nan.
#pragma once

#include "arithmetic/ieee_tree.h"

namespace mmafuzz {

namespace detail {

/// An operand as the fp32 number that it becomes.
MMAFUZZ_HD inline Number core_operand(const DotModel& core, const FormatFields& f, uint64_t encoding) {
  Number n = decode(f, encoding);
  if (!flushes(core) || n.cls != NumberClass::finite) return n;
  if (n.exponent + fast_bit_length(n.significand) - 1 >= core.d.emin()) return n;
  n.cls = NumberClass::zero;
  n.significand = 0;
  n.negative &= core.subnormals == Subnormals::flushed_signed;
  return n;
}

}  // namespace detail

template <class Trace>
MMAFUZZ_HD_CALL uint64_t fma_then_add(const DotModel& m, const DotOperands& in, int first_index,
                                      const FormatFields& c_format, Trace& trace, Step& step) {
  (void)first_index;
  DotModel core = m;
  core.d = ieee_fields(8, 23);
  core.nan = core.d.encode_nan();
  RoundingRule rule;
  rule.rounding = m.output_rounding;
  // Exact: c is fp16 or fp32.
  uint64_t accumulator = convert_number(core.d, detail::core_operand(core, c_format, in.c), rule).encoding;
  uint64_t of_chains = 0;
  for (int first = 0; first < m.k; first += m.block) {
    if constexpr (Trace::enabled) step.block = first / m.block;
    uint64_t chain = 0;
    for (int i = first; i < smaller(first + m.block, m.k); ++i) {
      const Number term[3] = {detail::core_operand(core, m.a, in.a[i]), detail::core_operand(core, m.b, in.b[i]),
                              decode(core.d, chain)};
      const bool multiplies = i == first && m.chain_start == ChainStart::first_product;
      const Rounded r = multiplies ? ieee_multiply(core.d, term[0], term[1], rule)
                                   : ieee_fma(core.d, term[0], term[1], term[2], rule);
      chain = detail::tree_result(core, r);
      const Step::Kind kind = multiplies ? Step::Kind::ieee_multiply : Step::Kind::ieee_fma;
      detail::trace_operation(trace, step, kind, term, multiplies ? 2 : 3, r, chain);
    }
    if (m.chain_join == ChainJoin::in_turn) {
      accumulator = tree_add(core, decode(core.d, accumulator), chain, trace, step);
    } else {
      of_chains = first == 0 ? chain : tree_add(core, decode(core.d, of_chains), chain, trace, step);
    }
  }
  if (m.chain_join == ChainJoin::summed_first)
    accumulator = tree_add(core, decode(core.d, accumulator), of_chains, trace, step);
  const Number sum = decode(core.d, accumulator);
  const Rounded r = convert_number(m.d, sum, rule);
  return sum.cls == NumberClass::nan ? m.nan : r.encoding;
}

}  // namespace mmafuzz
