// CDNA3's matrix core (docs/semantics.md 7): products are truncated and summed first, c joins in a second stage that
// floors both (TR-FDPA); with fp8 operands even and odd products are aligned apart (GTR-FDPA). Uses block,
// fraction_bits (24), zero_rule, odd_even, second_stage, c_special, c_exponent, product_overflow, overflow_rank,
// output_rounding, overflow, nan, low_bits, subnormals.
#pragma once

#include "arithmetic/specials.h"
#include "arithmetic/trace.h"

namespace mmafuzz {

namespace detail {

/// A signed integer sum with its unit; no terms: exponent is far below every real product.
struct PartialSum {
  static constexpr int nothing = -100000;
  int64_t sum = 0;
  int greatest = nothing;
};

/// floor(value * 2^(from - to)), exact for to <= from.
MMAFUZZ_HD inline int64_t floor_to(int64_t value, int from, int to) {
  const int shift = to - from;
  if (shift <= 0) return -shift >= 62 ? 0 : value * (int64_t{1} << -shift);
  return shift >= 63 ? (value < 0 ? -1 : 0) : value >> shift;
}

MMAFUZZ_HD inline PartialSum truncated_sum(const DotModel& m, const Product* product, int n, int first, int stride) {
  PartialSum s;
  for (int i = first; i < n; i += stride)
    if (!product[i].zero || m.zero_rule == ZeroRule::operand)
      s.greatest = larger(s.greatest, product[i].scale_exponent);
  for (int i = first; i < n; i += stride) {
    bool lost;
    const int64_t kept =
        static_cast<int64_t>(align(product[i].significand, product[i].exponent, s.greatest - m.fraction_bits, lost));
    s.sum += product[i].negative ? -kept : kept;
  }
  return s;
}

}  // namespace detail

/// One block of n products and c.
template <class Trace>
MMAFUZZ_HD uint64_t two_stage_block(const DotModel& m, Product* product, int n, int first_index,
                                    const FormatFields& c_format, uint64_t c_encoding, Trace& trace, Step& step) {
  const int f = m.fraction_bits;
  Number c = read_operand(m, c_format, c_encoding);
  const bool c_is_special = c.cls == NumberClass::infinity || c.cls == NumberClass::nan;

  SpecialTerms specials, operands;
  for (int i = 0; i < n; ++i) {
    Product& p = product[i];
    operands.add(p.cls, p.negative);
    if (m.product_overflow != ProductOverflow::none && overflows_fp32(p)) {
      p.cls = NumberClass::infinity;
      if (m.product_overflow == ProductOverflow::positive_infinity) p.negative = false;
    }
    specials.add(p.cls, p.negative);
  }

  detail::PartialSum dot;
  if (m.odd_even) {
    const detail::PartialSum even = detail::truncated_sum(m, product, n, 0, 2);
    const detail::PartialSum odd = detail::truncated_sum(m, product, n, 1, 2);
    dot.greatest = larger(even.greatest, odd.greatest);
    dot.sum =
        detail::floor_to(even.sum, even.greatest, dot.greatest) + detail::floor_to(odd.sum, odd.greatest, dot.greatest);
  } else {
    dot = detail::truncated_sum(m, product, n, 0, 1);
  }

  bool c_dropped = false;
  if (c_is_special && m.c_special == CSpecial::reads_minus_one) {
    // D31: the special c reads exponent -1 and is dropped like any c that is too small.
    c_dropped = !specials.any() && -1 < larger(dot.greatest, -1) - (f + 1);
  }
  if (!c_dropped) {
    specials.add(c.cls, c.negative);
    operands.add(c.cls, c.negative);
  }
  Rounded r;
  int64_t total = 0;
  int unit = 0, total_unit = 0, greatest = 0;
  int64_t product_part = 0, c_part = 0;
  const bool special = specials.any();
  if (special) {
    const bool yields = m.overflow_rank == OverflowRank::below_operands && operands.any();
    r.encoding = (yields ? operands : specials).result(m.d, m.nan);
  } else {
    if (c_dropped) c = Number{};
    const int c_exponent = c.significand ? alignment_exponent_of_c(m, c_format, c) : operand_rule_zero_exponent;
    greatest = larger(dot.greatest, c_exponent);
    const bool fine = m.second_stage == SecondStage::floor32_then_31;
    unit = greatest - (f + 7) - (fine ? 1 : 0);
    product_part = detail::floor_to(dot.sum, dot.greatest - f, unit);
    bool lost;
    const bool c_too_small = m.odd_even && c_exponent < greatest - (f + 1);
    if (!c_too_small) {
      const int64_t floored = align_floor(c.negative, c.significand, c.exponent, greatest - f, lost);
      c_part = detail::floor_to(floored, greatest - f, unit);
    }
    total = product_part + c_part;
    total_unit = unit;
    if (fine && total != 0) {
      // Below the normal range the floor stays where that of the least normal number is (N7).
      const uint64_t magnitude = static_cast<uint64_t>(total < 0 ? -total : total);
      const int leading = larger(unit + fast_bit_length(magnitude) - 1, m.d.emin());
      const int drop = leading - (f + 7) - unit;
      if (drop > 0) {
        total_unit += drop;
        total = detail::floor_to(total, unit, total_unit);
      }
    }
    RoundingRule rule;
    rule.rounding = m.output_rounding;
    rule.overflow = m.overflow;
    const bool negative = total < 0;
    r = round_once(m.d, negative, static_cast<uint64_t>(negative ? -total : total), total_unit, false, rule);
    r.encoding = flush_result(m, r);
  }
  if constexpr (Trace::enabled) {
    step.kind = special ? Step::Kind::special : Step::Kind::second_stage;
    step.count = n + 1;
    step.aligned = !special;
    step.greatest_exponent = greatest;
    step.unit_exponent = unit;
    // A floor far above the units of the step is not shown.
    step.sum = total_unit - unit < 62 ? detail::floor_to(total, total_unit, unit) : product_part + c_part;
    for (int i = 0; i <= n; ++i) {
      Addend& t = step.addend[i];
      t = i == n ? addend_of(c, Addend::Source::c, 0) : addend_of(product[i], first_index + i);
      if (special || t.significand == 0) continue;
      t.shift = greatest - t.scale_exponent;
      if (i == n) {
        t.kept = c_part;
        bool lost;
        align(t.significand, t.exponent, greatest - f, lost);
        t.lost = lost;
      } else {
        bool lost;
        const int64_t kept = static_cast<int64_t>(align(t.significand, t.exponent, dot.greatest - f, lost));
        t.kept = detail::floor_to(t.negative ? -kept : kept, dot.greatest - f, unit);
        t.lost = lost;
      }
    }
    step.rounded = r;
    step.result = r.encoding;
    trace(step);
  }
  return r.encoding;
}

template <class Trace>
MMAFUZZ_HD_CALL uint64_t two_stage_sum(const DotModel& m, const DotOperands& in, int first_index,
                                       const FormatFields& c_format, Trace& trace, Step& step) {
  return chain_blocks(m, in, first_index, c_format, step,
                      [&](Product* product, int n, int first, const FormatFields& format, uint64_t c) {
                        return two_stage_block(m, product, n, first, format, c, trace, step);
                      });
}

}  // namespace mmafuzz
