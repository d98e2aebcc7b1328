// Runs a row of parameters on one case: the instruction sequence along k, each instruction by the row's kernel.
#pragma once

#include "arithmetic/bulk_normalized.h"
#include "arithmetic/chains.h"
#include "arithmetic/emulated_fp8.h"
#include "arithmetic/two_stage_sum.h"

namespace mmafuzz {

/// The index of the product at `position` (from 0) in the row's order of an instruction's products.
MMAFUZZ_HD inline int product_at(const DotModel& m, int position) {
  switch (m.order) {
    case ProductOrder::descending: return m.k - 1 - position;
    case ProductOrder::swapped_pairs: return (position ^ 1) < m.k ? position ^ 1 : position;
    case ProductOrder::interleaved: return position % m.block * (m.k / m.block) + position / m.block;
    case ProductOrder::halves_in_turn: {
      const int block = position / m.block;
      return block % 2 * (m.k / 2) + block / 2 * m.block + position % m.block;
    }
    case ProductOrder::ascending: break;
  }
  return position;
}

/// The index of the product that the kernel adds at `position`: emulated FP8 adds one half after the other.
MMAFUZZ_HD inline int added_at(const DotModel& m, int position) {
  const int half = m.k / 2;
  return traits_of(m).widens_to_fp16() ? product_of_half(position / half, position % half) : product_at(m, position);
}

/// Divides the products of a case into instructions of m.k, sets c = instruction(operands without c, index of the first
/// product, format of c, c) for each in turn and returns the last c. A last part of fewer products is padded with +0,
/// its scales with 1. The operands are valid only during the call.
template <class Code, class Instruction>
MMAFUZZ_HD Code run_instructions(const DotModel& m, const DotOperands& in, Code c, Instruction instruction) {
  for (int first = 0; first < in.k; first += m.k) {
    uint64_t a[max_instruction_k], b[max_instruction_k], sa[max_instruction_k], sb[max_instruction_k];
    DotOperands part;
    part.k = m.k;
    const int n = smaller(m.k, in.k - first);
    if (m.order == ProductOrder::ascending && n == m.k) {
      part.a = in.a + first;
      part.b = in.b + first;
    } else {
      for (int i = 0; i < m.k; ++i) {
        const int product = product_at(m, i);
        a[i] = product < n ? in.a[first + product] : 0;
        b[i] = product < n ? in.b[first + product] : 0;
      }
      part.a = a;
      part.b = b;
    }
    if (m.scale_block) {
      const int scales = (m.k + m.scale_block - 1) / m.scale_block;
      const int scales_of_case = (n + m.scale_block - 1) / m.scale_block;
      part.scale_a = in.scale_a + first / m.scale_block;
      part.scale_b = in.scale_b + first / m.scale_block;
      if (scales_of_case < scales) {
        for (int i = 0; i < scales; ++i) {
          sa[i] = i < scales_of_case ? part.scale_a[i] : uint64_t(m.scale_a.bias) << m.scale_a.fraction_bits;
          sb[i] = i < scales_of_case ? part.scale_b[i] : uint64_t(m.scale_b.bias) << m.scale_b.fraction_bits;
        }
        part.scale_a = sa;
        part.scale_b = sb;
      }
    }
    // PTX m8n8k4 with an fp16 c and an fp32 d widens c first (D37, docs/units.md). The value is the same; only
    // CExponent::c_format sees the narrow format.
    c = instruction(part, first, first == 0 ? m.c : m.d, c);
  }
  return c;
}

/// The encoding (in m.d) of the result of one case.
template <class Trace>
MMAFUZZ_HD uint64_t evaluate_dot(const DotModel& m, const DotOperands& in, Trace& trace) {
  Step step;
  const auto instruction = [&](const DotOperands& part, int first, const FormatFields& c_format, uint64_t c) {
    if constexpr (Trace::enabled) step.instruction = first / m.k;
    switch (m.kernel) {
#define KERNEL(name, Domain, ...) \
  case Kernel::name:              \
    return name(Domain<Trace>(m, part, first, c_format, trace, step), c);
#include "arithmetic/kernels.def.h"
#undef KERNEL
    }
    return c;
  };
  return run_instructions(m, in, in.c, instruction);
}

#if defined(MMAFUZZ_COMPILED_KERNELS) && !defined(__CUDACC__)
/// oracles/models/evaluate_dot.cc has this instance, so that programs with the oracles do not compile all kernels
/// again.
extern template uint64_t evaluate_dot(const DotModel& m, const DotOperands& in, NoTrace& trace);
#endif

MMAFUZZ_HD inline uint64_t evaluate_dot(const DotModel& m, const DotOperands& in) {
  NoTrace trace;
  return evaluate_dot(m, in, trace);
}

}  // namespace mmafuzz
