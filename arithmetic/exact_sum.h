// CDNA1's matrix core (docs/semantics.md 5, E-FDPA): c and a block of products summed exactly, rounded once. Uses
// block, output_rounding, overflow, zero_sign, nan, subnormals, product_overflow.
#pragma once

#include "arithmetic/specials.h"
#include "arithmetic/trace.h"

namespace mmafuzz {

/// Wide enough for fp16 and bf16 products and an fp32 c: 2^-298 (tf32 squared: 2^-272) to 2^258, sign and carries.
using ProductAccumulator = WideInt<10>;
inline constexpr int product_accumulator_unit = -300;

template <class Trace>
MMAFUZZ_HD uint64_t exact_sum_block(const DotModel& m, const Product* product, int n, int first_index,
                                    const FormatFields& c_format, uint64_t c_encoding, Trace& trace, Step& step) {
  const Number c = read_operand(m, c_format, c_encoding);
  SpecialTerms specials;
  bool all_negative = c.negative, all_positive = !c.negative;
  ProductAccumulator sum;
  for (int i = 0; i < n; ++i) {
    specials.add(product[i].cls, product[i].negative);
    (product[i].negative ? all_positive : all_negative) = false;
    if (product[i].significand)
      sum.add_shifted(product[i].negative, product[i].significand, product[i].exponent - product_accumulator_unit);
  }
  specials.add(c.cls, c.negative);
  if (c.significand) sum.add_shifted(c.negative, c.significand, c.exponent - product_accumulator_unit);
  RoundingRule rule;
  rule.rounding = m.output_rounding;
  rule.overflow = m.overflow;
  Rounded r;
  if (specials.any()) {
    r.encoding = specials.result(m.d, m.nan);
  } else {
    r = round_wide(m.d, sum, product_accumulator_unit, zero_is_negative(m, all_negative, all_positive), rule);
    r.encoding = flush_result(m, r);
  }
  if constexpr (Trace::enabled) {
    step.kind = specials.any() ? Step::Kind::special : Step::Kind::exact_sum;
    step.count = n + 1;
    step.aligned = false;
    for (int i = 0; i < n; ++i) step.addend[i] = addend_of(product[i], first_index + i);
    step.addend[n] = addend_of(c, Addend::Source::c, 0);
    step.rounded = r;
    step.result = r.encoding;
    trace(step);
  }
  return r.encoding;
}

template <class Trace>
MMAFUZZ_HD_CALL uint64_t exact_sum(const DotModel& m, const DotOperands& in, int first_index,
                                   const FormatFields& c_format, Trace& trace, Step& step) {
  return chain_blocks(m, in, first_index, c_format, step,
                      [&](const Product* product, int n, int first, const FormatFields& format, uint64_t c) {
                        return exact_sum_block(m, product, n, first, format, c, trace, step);
                      });
}

}  // namespace mmafuzz
