// The grouped scaled sum of NVFP4 and MXFP4 (docs/semantics.md 3, GST-FDPA): each group of products is summed exactly,
// times the exact scale significands; groups and c are aligned by the scales' exponents, truncated and summed. Uses
// group, fraction_bits, zero_rule, zero_exponent, zero_group, integer_bits, output_*, overflow, nan.
#pragma once

#include "arithmetic/fused_sum.h"

namespace mmafuzz {

template <class Trace>
MMAFUZZ_HD_CALL uint64_t grouped_sum(const DotModel& m, const DotOperands& in, int first_index,
                                     const FormatFields& c_format, Trace& trace, Step& step) {
  Product group[max_instruction_k];
  int groups = 0;
  for (int first = 0; first < m.k; first += m.group, ++groups) {
    Product& g = group[groups];
    g = Product{};
    const int s = first / m.scale_block;
    const Number sx = decode(m.scale_a, in.scale_a[s]), sy = decode(m.scale_b, in.scale_b[s]);
    // Products as integers at the weight of the formats' least product, 576 * 4 at most for e2m1.
    const int unit = m.a.subnormal_bit() + m.b.subnormal_bit();
    int64_t sum = 0;
    bool any_product = false;
    SpecialTerms specials;  // of formats that have them; e2m1 has none
    for (int i = first; i < smaller(first + m.group, m.k); ++i) {
      const Number x = decode(m.a, in.a[i]), y = decode(m.b, in.b[i]);
      if (x.cls > NumberClass::finite || y.cls > NumberClass::finite) {
        const Product special = multiply(m, x, y);
        specials.add(special.cls, special.negative);
        continue;
      }
      const uint64_t significand = x.significand * y.significand;  // of a zero the exponent says nothing
      const uint64_t product = significand ? significand << (x.exponent + y.exponent - unit) : 0;
      any_product |= product != 0;
      sum += x.negative != y.negative ? -static_cast<int64_t>(product) : static_cast<int64_t>(product);
    }
    const bool scales_zero = sx.significand == 0 || sy.significand == 0;
    const bool infinite = specials.plus_infinity || specials.minus_infinity;
    const bool no_infinity = scales_zero || (specials.plus_infinity && specials.minus_infinity);
    if (specials.nan || sx.cls == NumberClass::nan || sy.cls == NumberClass::nan || (infinite && no_infinity))
      g.cls = NumberClass::nan;
    else if (infinite) g.cls = NumberClass::infinity;
    g.negative = infinite ? specials.minus_infinity : sum < 0;
    g.significand = static_cast<uint64_t>(sum < 0 ? -sum : sum) * sx.significand * sy.significand;
    g.exponent = unit + sx.exponent + sy.exponent;
    g.scale_exponent = (sx.significand ? sx.scale_exponent : operand_rule_zero_exponent) +
                       (sy.significand ? sy.scale_exponent : operand_rule_zero_exponent);
    g.zero = scales_zero || (m.zero_group == ZeroGroup::sum_zero ? sum == 0 : !any_product);
  }
  (void)first_index;
  return fused_sum_block(m, group, groups, 0, c_format, in.c, trace, step, Addend::Source::group);
}

}  // namespace mmafuzz
