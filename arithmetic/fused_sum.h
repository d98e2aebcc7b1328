// The truncated fused sum of NVIDIA matrix units, d = round(c + sum a[i]*b[i]): docs/semantics.md 1 (T-FDPA) and 2
// (ST-FDPA, one power-of-two scale per side). Uses block, fraction_bits, zero_rule, zero_exponent, product, c_exponent,
// integer_bits, output_*, overflow, underflow_sign, zero_sign, nan, special_scope, low_bits, subnormals.
#pragma once

#include "arithmetic/specials.h"
#include "arithmetic/trace.h"

namespace mmafuzz {

/// A number read without specials: an all-ones exponent is an ordinary one (SpecialScope::whole_k, D12).
MMAFUZZ_HD inline Number without_specials(const FormatFields& f, uint64_t encoding, Number n) {
  if (n.cls != NumberClass::infinity && n.cls != NumberClass::nan) return n;
  FormatFields finite = f;
  finite.specials = Specials::none;
  return decode(finite, encoding);
}

/// The greatest exponent among a sum's terms under the row's zero rule.
struct GreatestExponent {
  int value = INT32_MIN / 2;
  bool from_zero = false;

  MMAFUZZ_HD void offer(int exponent, bool zero) {
    if (exponent > value) {
      value = exponent;
      from_zero = zero;
    }
  }
};

MMAFUZZ_HD inline bool zero_term_exponent(const DotModel& m, int operand_exponent, int& exponent) {
  if (m.zero_rule == ZeroRule::clamp) return false;
  exponent = m.zero_rule == ZeroRule::constant ? m.zero_exponent : operand_exponent;
  return true;
}

/// Wraps a sum's magnitude as an adder of too few integer bits would.
MMAFUZZ_HD inline int64_t wrap_sum(const DotModel& m, int64_t sum) {
  if (m.integer_bits == 0) return sum;
  const uint64_t mask = low_mask(m.integer_bits + m.fraction_bits);
  const uint64_t magnitude = (sum < 0 ? 0 - static_cast<uint64_t>(sum) : static_cast<uint64_t>(sum)) & mask;
  return sum < 0 ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
}

/// The step in which infinities and NaNs decide.
template <class Trace>
MMAFUZZ_HD uint64_t special_result(const DotModel& m, const SpecialTerms& specials, Trace& trace, Step& step) {
  const uint64_t result = specials.result(m.d, m.nan);
  if constexpr (Trace::enabled) {
    step.kind = Step::Kind::special;
    step.count = 0;
    step.result = result;
    trace(step);
  }
  return result;
}

/// One block: n products, or groups of them as `source` says (n <= max_instruction_k), and c (an encoding of c_format).
/// Scale exponents, if any, are already part of the products; `specials` holds the special terms of products and c
/// (ignored under SpecialScope::whole_k).
template <class Trace>
MMAFUZZ_HD_CALL uint64_t fused_sum_block(const DotModel& m, const Product* product, int n, int first_index,
                                         const FormatFields& c_format, uint64_t c_encoding, Trace& trace, Step& step,
                                         Addend::Source source = Addend::Source::product) {
  const Number c_read = read_operand(m, c_format, c_encoding);
  if (m.special_scope == SpecialScope::block) {
    SpecialTerms specials;
    for (int i = 0; i < n; ++i) specials.add(product[i].cls, product[i].negative);
    specials.add(c_read.cls, c_read.negative);
    if (specials.any()) return special_result(m, specials, trace, step);
  }
  const Number c = without_specials(c_format, c_encoding, c_read);
  const bool c_zero = c.significand == 0;
  int c_exponent = alignment_exponent_of_c(m, c_format, c);
  const bool c_counts = c_zero ? zero_term_exponent(m, c_exponent, c_exponent) : true;

  GreatestExponent greatest;
  if (m.zero_rule == ZeroRule::clamp) greatest.offer(m.zero_exponent, true);
  bool all_negative = c.negative, all_positive = !c.negative;
  for (int i = 0; i < n; ++i) {
    const Product& p = product[i];
    (p.negative ? all_positive : all_negative) = false;
    int e = p.scale_exponent;
    if (!p.zero || zero_term_exponent(m, e, e)) greatest.offer(e, p.zero);
  }
  if (c_counts) greatest.offer(c_exponent, c_zero);

  const int unit = greatest.value - m.fraction_bits;
  int64_t sum = 0;
  for (int i = 0; i <= n; ++i) {
    const bool is_c = i == n;
    const bool negative = is_c ? c.negative : product[i].negative;
    const uint64_t significand = is_c ? c.significand : product[i].significand;
    const int exponent = is_c ? c.exponent : product[i].exponent;
    bool lost = false;
    const int64_t magnitude = static_cast<int64_t>(align(significand, exponent, unit, lost));
    const int64_t kept = negative ? -magnitude : magnitude;
    sum += kept;
    if constexpr (Trace::enabled) {
      int scale_exponent = is_c ? c_exponent : product[i].scale_exponent;
      if (significand == 0 && m.zero_rule == ZeroRule::constant) scale_exponent = m.zero_exponent;
      Addend& t = step.addend[i];
      t = make_addend(is_c ? Addend::Source::c : source, is_c ? 0 : first_index + i,
                      significand ? NumberClass::finite : NumberClass::zero, negative, significand, exponent,
                      scale_exponent);
      t.shift = greatest.value - t.scale_exponent;
      t.kept = kept;
      t.lost = lost;
    }
  }
  sum = wrap_sum(m, sum);
  const Rounded r = round_output(m, sum, unit, zero_is_negative(m, all_negative, all_positive));
  if constexpr (Trace::enabled) {
    step.kind = Step::Kind::fused_sum;
    step.count = n + 1;
    step.greatest_exponent = greatest.value;
    step.floor_decided = greatest.from_zero;
    step.unit_exponent = unit;
    step.aligned = true;
    step.sum = sum;
    step.rounded = r;
    step.result = r.encoding;
    trace(step);
  }
  return r.encoding;
}

/// One instruction of m.k products in blocks of m.block, in index order. c is an encoding of c_format.
template <class Trace>
MMAFUZZ_HD_CALL uint64_t fused_sum(const DotModel& m, const DotOperands& in, int first_index,
                                   const FormatFields& c_format, Trace& trace, Step& step) {
  Product product[max_instruction_k];
  SpecialTerms whole;
  for (int i = 0; i < m.k; ++i) {
    const Number x = read_operand(m, m.a, in.a[i]), y = read_operand(m, m.b, in.b[i]);
    product[i] = multiply(m, x, y);
    if (m.scale_block) {
      const int s = i / m.scale_block;
      const Number sx = decode(m.scale_a, in.scale_a[s]), sy = decode(m.scale_b, in.scale_b[s]);
      if (sx.cls == NumberClass::nan || sy.cls == NumberClass::nan) {
        product[i].cls = NumberClass::nan;
      } else {
        product[i].exponent += sx.scale_exponent + sy.scale_exponent;
        product[i].scale_exponent += sx.scale_exponent + sy.scale_exponent;
      }
    }
    whole.add(product[i].cls, product[i].negative);
  }
  if (m.special_scope == SpecialScope::whole_k) {
    const Number c = read_operand(m, c_format, in.c);
    whole.add(c.cls, c.negative);
    if (whole.any()) return special_result(m, whole, trace, step);
  }
  uint64_t accumulator = in.c;
  for (int block = 0; block * m.block < m.k; ++block) {
    const int first = block * m.block, n = smaller(m.block, m.k - first);
    if constexpr (Trace::enabled) step.block = block;
    accumulator = fused_sum_block(m, product + first, n, first_index + first, block == 0 ? c_format : m.d, accumulator,
                                  trace, step);
  }
  return accumulator;
}

}  // namespace mmafuzz
