// CDNA1's matrix core (docs/semantics.md 5, E-FDPA): c and a block of products summed exactly, rounded once. Uses block,
// output_rounding, overflow, nan, subnormals, product_overflow.
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
    r = round_wide(m.d, sum, product_accumulator_unit, zero_sum_sign(all_negative, all_positive, rule.rounding), rule);
  }
  if constexpr (Trace::enabled) {
    step.kind = specials.any() ? Step::Kind::special : Step::Kind::exact_sum;
    step.count = n + 1;
    step.aligned = false;
    for (int i = 0; i <= n; ++i) {
      Addend& t = step.addend[i];
      t = Addend{};
      t.source = i == n ? Addend::Source::c : Addend::Source::product;
      t.index = static_cast<int16_t>(i == n ? 0 : first_index + i);
      t.cls = i == n ? c.cls : product[i].cls;
      t.negative = i == n ? c.negative : product[i].negative;
      t.significand = i == n ? c.significand : product[i].significand;
      t.exponent = i == n ? c.exponent : product[i].exponent;
      t.scale_exponent = i == n ? c.scale_exponent : product[i].scale_exponent;
    }
    step.rounded = r;
    step.result = r.encoding;
    trace(step);
  }
  return r.encoding;
}

template <class Trace>
MMAFUZZ_HD uint64_t exact_sum(const DotModel& m, const DotOperands& in, int first_index, const FormatFields& c_format,
                              Trace& trace, Step& step) {
  uint64_t accumulator = in.c;
  for (int first = 0; first < m.k; first += m.block) {
    const int n = smaller(m.block, m.k - first);
    Product product[max_instruction_k];
    for (int i = 0; i < n; ++i)
      product[i] = multiply(m, read_operand(m, m.a, in.a[first + i]), read_operand(m, m.b, in.b[first + i]));
    if constexpr (Trace::enabled) step.block = first / m.block;
    accumulator = exact_sum_block(m, product, n, first_index + first, first == 0 ? c_format : m.d, accumulator, trace, step);
  }
  return accumulator;
}

}  // namespace mmafuzz
