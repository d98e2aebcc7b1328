// FP8 by fp16 instructions: docs/semantics.md 4.
#include <algorithm>

#include "prove/formulas/aligned_sum.h"
#include "prove/formulas/ieee.h"
#include "prove/formulas/kernels.h"

namespace mmafuzz::prove {

Result<bool> emulated_fp8_covers(const DotModel& m) {
  if (m.zero_rule == ZeroRule::operand)
    return declined("formulas of emulated FP8 know constant zero rules (zero_rule)");
  if (m.output_fraction_bits != m.d.fraction_bits)
    return declined("formulas of emulated FP8 round to all bits of d (output_fraction_bits)");
  if (m.overflow != Overflow::infinity) return declined("formulas of emulated FP8 overflow to infinity (overflow)");
  if (m.c != m.d) return declined("formulas of emulated FP8 take a c of d's format");
  if (m.k % 4 != 0) return declined("formulas of emulated FP8 take products by fours");
  return true;
}

Formula emulated_fp8(const DotModel& m, const Operands& x, const FormatFields& c_format) {
  Expressions& in = x.c.of();
  // The operands become fp16 numbers.
  const auto as_fp16 = [&](const FormatFields& f, Expression e) {
    return widened(fp16_fields, decode(f, e, exponent_width_of(m)), fp16_fields.encode_nan());
  };
  DotModel half = m;
  half.a = half.b = fp16_fields;
  half.c = m.d;
  half.kernel = Kernel::fused_sum;
  half.k = m.k / 2;
  Formula all;
  Expression sum = in.constant(m.d.width, 0);
  for (const int part : {0, 2}) {
    Operands own;
    for (int i = 0; i < m.k; ++i) {
      if ((i & 2) != part) continue;
      own.a.push_back(as_fp16(m.a, x.a[size_t(i)]));
      own.b.push_back(as_fp16(m.b, x.b[size_t(i)]));
    }
    own.c = sum;
    append(all, part ? "second sum, " : "first sum, ", fused_sum(half, own, m.d));
    sum = all.result;
  }
  all.result = ieee_add(m.d, Rounding::nearest_even, sum, x.c, m.nan);
  all.stages.push_back({"the addition of c", {all.result}, {}, {}});
  return all;
}

}  // namespace mmafuzz::prove
