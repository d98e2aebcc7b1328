// CDNA2's matrix core (docs/semantics.md 6, FTZ-AddMul): products and pairwise sums as separate IEEE operations in d's
// format, then added to c. Uses block (P, a power of two), output_rounding, nan, subnormals, zero_operands,
// product_overflow, overflow_rank.
#pragma once

#include "arithmetic/specials.h"
#include "arithmetic/trace.h"

namespace mmafuzz {

namespace detail {

/// One IEEE operation's result as the tree passes it on: subnormal results become signed zeros where flushed, NaN is
/// the row's.
MMAFUZZ_HD inline uint64_t tree_result(const DotModel& m, const Rounded& r) {
  return decode(m.d, r.encoding).cls == NumberClass::nan ? m.nan : flush_result(m, r);
}

/// An operand of the tree; its rules for subnormals and for the sign of zeros.
MMAFUZZ_HD inline Number tree_operand(const DotModel& m, const FormatFields& f, uint64_t encoding) {
  Number n = read_operand(m, f, encoding);
  if (m.zero_operands == ZeroOperands::positive && n.cls == NumberClass::zero) n.negative = false;
  return n;
}

template <class Trace>
MMAFUZZ_HD void trace_operation(Trace& trace, Step& step, Step::Kind kind, const Number* term, int count,
                                const Rounded& r, uint64_t result) {
  if constexpr (Trace::enabled) {
    step.kind = kind;
    step.count = count;
    step.aligned = false;
    for (int i = 0; i < count; ++i) step.addend[i] = addend_of(term[i], Addend::Source::partial_sum, i);
    step.rounded = r;
    step.result = result;
    trace(step);
  }
}

}  // namespace detail

template <class Trace>
MMAFUZZ_HD_CALL uint64_t tree_add(const DotModel& m, const Number& x, uint64_t y, Trace& trace, Step& step) {
  RoundingRule rule;
  rule.rounding = m.output_rounding;
  const Number term[2] = {x, decode(m.d, y)};
  const Rounded r = ieee_add(m.d, term[0], term[1], rule);
  const uint64_t result = detail::tree_result(m, r);
  detail::trace_operation(trace, step, Step::Kind::ieee_add, term, 2, r, result);
  return result;
}

template <class Trace>
MMAFUZZ_HD_CALL uint64_t ieee_tree(const DotModel& m, const DotOperands& in, int first_index,
                                   const FormatFields& c_format, Trace& trace, Step& step) {
  (void)first_index;
  RoundingRule rule;
  rule.rounding = m.output_rounding;
  uint64_t accumulator = in.c;
  for (int first = 0; first < m.k; first += m.block) {
    if constexpr (Trace::enabled) step.block = first / m.block;
    const int n = smaller(m.block, m.k - first);
    uint64_t node[max_instruction_k];
    SpecialTerms operand_specials;  // of the block's operands, before any product overflows
    bool overflowed = false;
    for (int i = 0; i < n; ++i) {
      const Number term[2] = {detail::tree_operand(m, m.a, in.a[first + i]),
                              detail::tree_operand(m, m.b, in.b[first + i])};
      Rounded r = ieee_multiply(m.d, term[0], term[1], rule);
      const Exact product = exact_product(to_exact(term[0]), to_exact(term[1]));
      operand_specials.add(product.cls, product.negative);
      if (product.cls == NumberClass::finite && (r.flags & flag::overflow)) {
        overflowed = true;
        if (m.product_overflow != ProductOverflow::none)
          r.encoding = m.d.encode_infinity(r.negative && m.product_overflow == ProductOverflow::infinity);
      }
      node[i] = detail::tree_result(m, r);
      detail::trace_operation(trace, step, Step::Kind::ieee_multiply, term, 2, r, node[i]);
    }
    for (int count = n; count > 1; count = (count + 1) / 2) {
      for (int i = 0; i < count / 2; ++i) node[i] = tree_add(m, decode(m.d, node[2 * i]), node[2 * i + 1], trace, step);
      if (count % 2) node[count / 2] = node[count - 1];
    }
    // A flushed subnormal c loses its sign too (docs/semantics.md 6), and so does a zero one, but not what one block
    // hands to the next.
    const Number c = first == 0 ? detail::tree_operand(m, c_format, accumulator) : read_operand(m, m.d, accumulator);
    operand_specials.add(c.cls, c.negative);
    if (m.overflow_rank == OverflowRank::below_operands && overflowed && operand_specials.any()) {
      accumulator = operand_specials.result(m.d, m.nan);
    } else {
      accumulator = tree_add(m, c, node[0], trace, step);
    }
  }
  return accumulator;
}

}  // namespace mmafuzz
