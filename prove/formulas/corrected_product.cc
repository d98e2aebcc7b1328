#include "prove/formulas/corrected_product.h"

#include "prove/formulas/ieee.h"

namespace mmafuzz::prove {

Result<bool> corrected_product_covers(const gemm::CorrectionPlan& plan) {
  const bool inside = !plan.adds_outside && plan.scale == 0 && plan.residual_product,
             outside = plan.adds_outside && plan.scale > 0;
  if (!inside && !outside)
    return declined("formulas of error-corrected products add inside with scale=0, or outside with a greater scale");
  if (plan.narrow.fields().ignored_low_bits > 0)
    return declined("formulas of error-corrected products do not split into " + plan.narrow.name());
  return true;
}

namespace {

const IeeeRules to_fp32{fp32_fields, Rounding::nearest_even, fp32_fields.encode_nan()};

Number times_power(Expression x, int power) {
  Number n = decode(fp32_fields, x, fp32_exponent_width);
  n.exponent = n.exponent + as_number(n.exponent, power);
  return n;
}

Expression opposite(Expression x) { return x ^ x.table().constant(32, Bits(fp32_fields.sign_bit())); }

}  // namespace

SplitFactors split_factors(const gemm::CorrectionPlan& plan, const std::vector<Expression>& x) {
  const FormatFields narrow = plan.narrow.fields();
  const IeeeRules rules{narrow, Rounding::nearest_even, narrow.encode_nan()};
  SplitFactors parts;
  for (const Expression& e : x) {
    const Expression main = ieee_rounded(rules, decode(fp32_fields, e, fp32_exponent_width));
    const Expression rest =
        ieee_add(to_fp32, e, opposite(widened(fp32_fields, decode(narrow, main, fp32_exponent_width))));
    parts.main.push_back(main);
    parts.residual.push_back(ieee_rounded(rules, times_power(rest, plan.scale)));
  }
  return parts;
}

CorrectedProduct corrected_product(const gemm::CorrectionPlan& plan, const DotModel& dot, const SplitFactors& a,
                                   const SplitFactors& b, Expression c) {
  Expressions& table = c.table();
  const size_t k = a.main.size(), length = size_t(plan.unit_k);
  const auto padded = [&](const std::vector<Expression>& x, size_t first) {
    std::vector<Expression> part(x.begin() + std::ptrdiff_t(first),
                                 x.begin() + std::ptrdiff_t(std::min(first + length, k)));
    part.resize(length, table.constant(x[0].width(), 0));
    return part;
  };
  using Parts = std::vector<Expression>;
  const auto one_dot = [&](const Parts& x, const Parts& y, size_t first, Expression addend) {
    return dot_formula(dot, {padded(x, first), padded(y, first), addend, {}, {}}).result;
  };
  const auto chain = [&](const Parts& x, const Parts& y, Expression sum) {
    if (x.empty() || y.empty()) return sum;
    for (size_t first = 0; first < k; first += length) sum = one_dot(x, y, first, sum);
    return sum;
  };
  if (!plan.adds_outside)
    return {
        chain(a.main, b.main, chain(a.residual, b.main, chain(a.main, b.residual, chain(a.residual, b.residual, c)))),
        {}};

  const Expression zero = table.constant(32, 0);
  const auto divided = [&](Expression x) { return ieee_rounded(to_fp32, times_power(x, -plan.scale)); };
  Expression correction = chain(a.residual, b.main, chain(a.main, b.residual, zero));
  if (plan.residual_product) correction = ieee_add(to_fp32, divided(chain(a.residual, b.residual, zero)), correction);
  Expression product = one_dot(a.main, b.main, 0, zero);
  for (size_t first = length; first < k; first += length)
    product = ieee_add(to_fp32, product, one_dot(a.main, b.main, first, zero));
  const Expression before_c = ieee_add(to_fp32, product, divided(correction));
  return {ieee_add(to_fp32, before_c, c), before_c};
}

}  // namespace mmafuzz::prove
