// GST-FDPA: docs/semantics.md 3.
#include <algorithm>

#include "prove/formulas/aligned_sum.h"
#include "prove/formulas/kernels.h"

namespace mmafuzz::prove {

Result<bool> grouped_sum_covers(const DotModel& m) {
  if (m.zero_rule != ZeroRule::constant) return declined("formulas of grouped sums know one zero rule (zero_rule)");
  if (m.scale_block % m.group != 0 || m.k % m.group != 0)
    return declined("formulas of grouped sums take groups of one scale each (group)");
  if (m.a.has_nan() || m.b.has_nan()) return declined("formulas of grouped sums take operands without specials");
  return true;
}

namespace {

/// A finite number in units of its format's least bit.
Expression in_least_units(const Number& x, const FormatFields& f) {
  const int width = x.significand.width() + f.emax() - f.emin();
  const Expression up = x.exponent - as_number(x.exponent, f.emin());
  const int wide = std::max(width, up.width());
  return extract(shift_left(zero_extend(x.significand, wide), zero_extend(up, wide)), width - 1, 0);
}

}  // namespace

Formula grouped_sum(const DotModel& m, const Operands& x, const FormatFields& c_format) {
  Expressions& in = x.c.of();
  const int width = exponent_width_of(m);
  const Expression floor = in.number(width, m.zero_exponent);
  Formula all;
  std::vector<Addend> addends;
  std::vector<Expression> scale_nan;
  for (int first = 0; first < m.k; first += m.group) {
    std::vector<Expression> zero;
    Expression sum;
    int fraction_bits = 0, sum_width = 0;
    Bits most = 0;
    for (int i = first; i < first + m.group; ++i) {
      const Number a = decode(m.a, x.a[size_t(i)], width), b = decode(m.b, x.b[size_t(i)], width);
      const Expression u = in_least_units(a, m.a), v = in_least_units(b, m.b);
      if (i == first) {
        fraction_bits = -m.a.least_bit() - m.b.least_bit();
        sum_width = u.width() + v.width() + 2;
        for (int n = m.group; n > 1; n /= 2) ++sum_width;
        sum = in.constant(sum_width, 0);
      }
      const Expression product = zero_extend(u, sum_width) * zero_extend(v, sum_width);
      sum = sum + choose(a.negative ^ b.negative, -product, product);
      most += ones(u.width()) * ones(v.width());
      zero.push_back(a.zero | b.zero);
    }
    const size_t at = size_t(first / m.scale_block);
    const Number sa = decode(m.scale_a, x.scale_a[at], width), sb = decode(m.scale_b, x.scale_b[at], width);
    const Number scale = product_of(sa, sb);
    scale_nan.push_back(scale.nan);
    Number group;
    group.negative = bit(sum, sum_width - 1);
    const Expression magnitude = extract(choose(group.negative, -sum, sum), sum_width - 2, 0);
    const int product_width = magnitude.width() + scale.significand.width();
    group.significand = zero_extend(magnitude, product_width) * zero_extend(scale.significand, product_width);
    group.greatest_significand = most * scale.greatest_significand;
    group.fraction_bits = fraction_bits + scale.fraction_bits;
    group.exponent = scale.exponent;
    const bool by_products = m.zero_group == ZeroGroup::all_products_zero;
    group.zero = scale.zero | (by_products ? all_of(in, zero) : is_zero(magnitude));
    group.infinite = group.nan = in.constant(1, 0);
    all.stages.push_back({"group " + std::to_string(first / m.group),
                          {group.negative, group.exponent, group.significand, group.zero},
                          {},
                          {}});
    addends.push_back({group, choose(group.zero, floor, group.exponent)});
  }
  const Number c = c_of(m, x.c, c_format, width);
  all.stages.push_back({"c", {c.negative, c.exponent, c.significand, c.zero, c.infinite, c.nan}, {}, {}});
  addends.push_back({c, choose(c.zero, floor, c.exponent)});
  const Formula step = aligned_sum(m, addends, any_of(in, scale_nan));
  all.stages.insert(all.stages.end(), step.stages.begin(), step.stages.end());
  all.result = step.result;
  return all;
}

}  // namespace mmafuzz::prove
