// FP8 mma.sync where it is emulated (sm_90 and sm_100): operands become fp16, two fused sums over the products with
// k mod 4 in {0,1} and then {2,3} start from zero, and an IEEE addition joins c last (docs/semantics.md 4). Uses block,
// fraction_bits, zero_*, output_* and nan for the fused sums.
#pragma once

#include "arithmetic/fused_sum.h"
#include "arithmetic/ieee_tree.h"

namespace mmafuzz {

template <class Trace>
MMAFUZZ_HD_CALL uint64_t emulated_fp8(const DotModel& m, const DotOperands& in, int first_index,
                                      const FormatFields& c_format, Trace& trace, Step& step) {
  (void)first_index;
  constexpr FormatFields fp16 = ieee_fields(5, 10);
  DotModel hmma = m;
  hmma.kernel = Kernel::fused_sum;
  hmma.a = hmma.b = fp16;
  hmma.c = m.d;
  hmma.k = m.k / 2;
  uint64_t sum = 0;
  for (int half = 0; half < 2; ++half) {
    uint64_t a[max_instruction_k], b[max_instruction_k];
    int n = 0;
    for (int i = 0; i < m.k; ++i) {
      if ((i % 4) / 2 != half) continue;
      a[n] = convert_number(fp16, decode(m.a, in.a[i]), {}).encoding;  // exact: fp16 holds every fp8 value
      b[n] = convert_number(fp16, decode(m.b, in.b[i]), {}).encoding;
      ++n;
    }
    DotOperands part;
    part.a = a;
    part.b = b;
    part.c = sum;
    part.k = n;
    if constexpr (Trace::enabled) step.block = half;
    sum = fused_sum(hmma, part, 0, m.d, trace, step);
  }
  DotModel add = m;
  add.output_rounding = Rounding::nearest_even;
  if constexpr (Trace::enabled) step.block = 2;
  return tree_add(add, decode(c_format, in.c), sum, trace, step);
}

}  // namespace mmafuzz
