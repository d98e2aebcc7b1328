// Kernels of IEEE operations: FTZ-AddMul, FMA chains, FMA chains with c added after (docs/semantics.md 6, 8).
#include "prove/formulas/aligned_sum.h"
#include "prove/formulas/ieee.h"
#include "prove/formulas/kernels.h"

namespace mmafuzz::prove {

Result<bool> ieee_kernel_covers(const DotModel& m) {
  if (m.low_bits != LowBits::ignored)
    return declined("formulas of IEEE operations ignore the low bits of tf32 (low_bits)");
  for (const FormatFields* f : {&m.a, &m.b, &m.c})
    if (m.kernel == Kernel::fma_then_add && m.subnormals != Subnormals::kept && f->emin() < fp32_fields.emin())
      return declined("formulas of fp32 operations flush no numbers below fp32's that are normal in their format");
  const bool rounds_to_infinity =
      m.output_rounding == Rounding::nearest_even || m.output_rounding == Rounding::nearest_away;
  if (m.product_overflow == ProductOverflow::positive_infinity || m.overflow_rank != OverflowRank::equal ||
      (m.product_overflow == ProductOverflow::infinity && !rounds_to_infinity))
    return declined(
        "formulas of IEEE operations let products overflow as IEEE 754 does (product_overflow, overflow_rank)");
  return true;
}

namespace {

IeeeRules rules_of(const DotModel& m) { return {m.d, m.output_rounding, m.nan, m.subnormals}; }

/// An operand, with what the row reads for subnormal numbers and zeros. On the cores it is an fp32 number by then.
Number operand(const DotModel& m, const FormatFields& f, Expression x, int width, bool loses_sign_of_zero) {
  Number n = decode(f, x, width);
  if (m.subnormals == Subnormals::kept && !loses_sign_of_zero) return n;
  const bool stays_subnormal = m.kernel != Kernel::fma_then_add || f.emin() == fp32_fields.emin();
  if (m.subnormals != Subnormals::kept && f.subnormals != SubnormalRule::absent && stays_subnormal) {
    const Expression leading = bit(n.significand, n.significand.width() - 1);
    const Expression subnormal = ~leading & ~n.zero & ~n.nan & ~n.infinite;
    n.significand = choose(leading, n.significand, as_number(n.significand, 0));
    n.zero = n.zero | subnormal;
    if (m.subnormals == Subnormals::flushed) n.negative = n.negative & ~subnormal;
  }
  if (loses_sign_of_zero) n.negative = n.negative & ~n.zero;
  return n;
}

Stage value(const std::string& name, Expression x) { return {name, {x}}; }

/// Like a product of its factors, a sum is one expression whatever the order of its two addends.
Expression commuting_sum(const IeeeRules& rules, Expression x, Expression y, int width) {
  if (y.index() < x.index()) std::swap(x, y);
  return ieee_sum(rules, decode(rules.format, x, width), decode(rules.format, y, width));
}

}  // namespace

Formula ieee_tree(const DotModel& m, const Operands& x, const FormatFields& c_format) {
  const int width = exponent_width_of(m);
  const IeeeRules rules = rules_of(m);
  const bool plain_zeros = m.zero_operands == ZeroOperands::positive;
  Formula all;
  FormatFields last = c_format;
  all.result = x.c;
  const int k = static_cast<int>(x.a.size());
  for (int first = 0; first < k; first += m.block) {
    std::vector<Expression> nodes;
    for (int i = first; i < std::min(first + m.block, k); ++i) {
      nodes.push_back(ieee_multiply(rules, operand(m, m.a, x.a[size_t(i)], width, plain_zeros),
                                    operand(m, m.b, x.b[size_t(i)], width, plain_zeros)));
      all.stages.push_back(value("product " + std::to_string(i), nodes.back()));
    }
    while (nodes.size() > 1) {
      std::vector<Expression> sums;
      for (size_t i = 0; i + 1 < nodes.size(); i += 2) {
        sums.push_back(commuting_sum(rules, nodes[i], nodes[i + 1], width));
        all.stages.push_back(value("a pair's sum", sums.back()));
      }
      if (nodes.size() % 2) sums.push_back(nodes.back());
      nodes = sums;
    }
    const Number c = operand(m, last, all.result, width, plain_zeros && first == 0);
    all.result = ieee_sum(rules, c, decode(m.d, nodes[0], width));
    all.stages.push_back(value("the addition of c", all.result));
    last = m.d;
  }
  return all;
}

Formula fma_chain(const DotModel& m, const Operands& x, const FormatFields& c_format) {
  const int width = exponent_width_of(m);
  const IeeeRules rules = rules_of(m);
  Formula all;
  Number c = operand(m, c_format, x.c, width, false);
  for (size_t i = 0; i < x.a.size(); ++i) {
    const Number p = product_of(operand(m, m.a, x.a[i], width, false), operand(m, m.b, x.b[i], width, false));
    all.stages.push_back({"product " + std::to_string(i),
                          {p.negative, p.exponent, p.significand, p.zero, p.infinite, p.nan},
                          {},
                          {p.zero}});
    all.result = ieee_sum(rules, p, c, &all.stages);
    all.stages.push_back(value("step " + std::to_string(i), all.result));
    c = decode(m.d, all.result, width);
  }
  return all;
}

Formula fma_then_add(const DotModel& m, const Operands& x, const FormatFields& c_format) {
  Expressions& in = x.c.of();
  const int width = exponent_width_of(m);
  const uint64_t nan = fp32_fields.encode_nan();
  const IeeeRules rules{fp32_fields, m.output_rounding, nan, m.subnormals};
  const bool sums_first = m.chain_join == ChainJoin::summed_first;
  Formula all;
  Expression sum = widened(fp32_fields, operand(m, c_format, x.c, width, false), nan);
  Expression of_chains = in.constant(32, 0);
  const auto add = [&](Expression y, Expression z) {
    return ieee_sum(rules, decode(fp32_fields, y, width), decode(fp32_fields, z, width));
  };
  const int k = static_cast<int>(x.a.size());
  for (int first = 0; first < k; first += m.block) {
    Expression chain = in.constant(32, 0);
    for (int i = first; i < std::min(first + m.block, k); ++i) {
      const Number a = operand(m, m.a, x.a[size_t(i)], width, false), b = operand(m, m.b, x.b[size_t(i)], width, false);
      chain = i == first && m.chain_start == ChainStart::first_product
                  ? ieee_multiply(rules, a, b)
                  : ieee_sum(rules, product_of(a, b), decode(fp32_fields, chain, width));
      all.stages.push_back(value("step " + std::to_string(i), chain));
    }
    if (sums_first) of_chains = first == 0 ? chain : add(of_chains, chain);
    else sum = add(sum, chain);
    all.stages.push_back(value("addition " + std::to_string(first / m.block), sums_first ? of_chains : sum));
  }
  if (sums_first) {
    sum = add(sum, of_chains);
    all.stages.push_back(value("addition of c", sum));
  }
  const IeeeRules last{m.d, m.output_rounding, m.nan, Subnormals::kept};
  all.result = ieee_rounded(last, decode(fp32_fields, sum, width));
  return all;
}

}  // namespace mmafuzz::prove
