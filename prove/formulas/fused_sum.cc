// T-FDPA and ST-FDPA: docs/semantics.md 1 and 2.
#include "prove/formulas/aligned_sum.h"
#include "prove/formulas/kernels.h"

namespace mmafuzz::prove {

Result<bool> fused_sum_covers(const DotModel& m) {
  if (m.special_scope != SpecialScope::block)
    return declined("formulas look for specials in each block (special_scope)");
  if (m.low_bits == LowBits::rounded) return declined("formulas do not round the low bits of tf32 operands (low_bits)");
  if (m.subnormals != Subnormals::kept) return declined("formulas of fused sums keep subnormals (subnormals)");
  if (m.scale_block > 0 && (m.scale_a.fraction_bits > 0 || m.scale_b.fraction_bits > 0))
    return declined("formulas of fused sums take scales that are powers of two");
  return true;
}

namespace {

/// A factor; tf32 operands lose their low bits, or only a NaN notices them.
Number factor(const DotModel& m, const FormatFields& f, Expression x, int exponent_width) {
  Number n = decode(f, x, exponent_width);
  if (m.low_bits == LowBits::nan_payload && f.ignored_low_bits > 0) {
    const Expression low = any_bit(extract(x, f.ignored_low_bits - 1, 0));
    n.nan = n.nan | (n.infinite & low);
    n.infinite = n.infinite & ~low;
  }
  return n;
}

}  // namespace

Formula fused_sum(const DotModel& m, const Operands& x, const FormatFields& c_format) {
  Expressions& in = x.c.of();
  const int width = exponent_width_of(m);
  const Expression floor = in.number(width, m.zero_exponent);
  const Expression zero_operand = in.number(width, -126);  // zero_rule=operand
  const bool by_operand = m.zero_rule == ZeroRule::operand;
  Formula all;
  all.result = x.c;
  FormatFields last_format = c_format;
  const int k = static_cast<int>(x.a.size());
  for (int first = 0; first < k; first += m.block) {
    const std::string block = k > m.block ? "block " + std::to_string(first / m.block) + ", " : "";
    std::vector<Addend> addends;
    std::vector<Expression> scale_nan;
    for (int i = first; i < std::min(first + m.block, k); ++i) {
      const Number a = factor(m, m.a, x.a[size_t(i)], width), b = factor(m, m.b, x.b[size_t(i)], width);
      Number p = product_of(a, b);
      Expression zero_reads = floor;
      if (by_operand) zero_reads = choose(a.zero, zero_operand, a.exponent) + choose(b.zero, zero_operand, b.exponent);
      if (m.product == ProductRule::normalized) p = normalized(p, -600);
      if (m.scale_block > 0) {
        const size_t at = size_t(i / m.scale_block);
        const Number sa = decode(m.scale_a, x.scale_a[at], width), sb = decode(m.scale_b, x.scale_b[at], width);
        p.exponent = p.exponent + sa.exponent + sb.exponent;
        if (by_operand) zero_reads = zero_reads + sa.exponent + sb.exponent;
        scale_nan.push_back(sa.nan | sb.nan);
      }
      all.stages.push_back(
          {block + "product " + std::to_string(i - first),
           {p.negative, p.exponent, p.significand, p.zero, p.infinite, p.nan},
           {~unsigned_below(in.constant(p.significand.width(), p.greatest_significand), p.significand)},
           {p.zero}});
      addends.push_back({p, choose(p.zero, zero_reads, p.exponent)});
    }
    const Number c = c_of(m, all.result, last_format, width);
    all.stages.push_back({block + "c", {c.negative, c.exponent, c.significand, c.zero, c.infinite, c.nan}, {}});
    addends.push_back({c, choose(c.zero, by_operand ? zero_operand : floor, c.exponent)});
    append(all, block, aligned_sum(m, addends, any_of(in, scale_nan)));
    last_format = m.d;
  }
  return all;
}

}  // namespace mmafuzz::prove
