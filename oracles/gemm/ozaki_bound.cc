#include "oracles/gemm/ozaki_bound.h"

#include "oracles/gemm/rounded_up.h"

namespace mmafuzz::gemm {
namespace {

constexpr int u_exponent = -53;    ///< 2^u_exponent is fp64's unit roundoff u
constexpr int least_half = -1075;  ///< 2^least_half is half of fp64's least subnormal number

/// An upper bound on what the digits that are left out contribute to a * b.
Bound omitted(const OzakiGemm& engine, const OzakiRecord& r, const ElementCuts& cuts, const Element& element,
              const Bound& sum_a, const Bound& sum_b) {
  const auto k = static_cast<long>(element.a.size());
  Bound all;
  if (cuts.needed_a > r.slices_a) all += sum_b * Bound::power(cuts.top_a - r.slices_a * r.widths.a);
  if (cuts.needed_b > r.slices_b) all += sum_a * Bound::power(cuts.top_b - r.slices_b * r.widths.b);
  if (!engine.plan().fast) return all;
  for (int p = 1; p <= std::min(r.slices_a, cuts.needed_a); ++p) {
    const int q =
        std::max(1, r.wanted_slices + 2 - p);  // the first slice of b that is not multiplied with slice p of a
    if (q > std::min(r.slices_b, cuts.needed_b)) continue;
    all += Bound::power(cuts.top_a + cuts.top_b - (p - 1) * r.widths.a - (q - 1) * r.widths.b, k);
  }
  return all;
}

}  // namespace

bool within_ozaki_bound(const OzakiGemm& engine, const OzakiRecord& r, const ElementCuts& cuts, const Element& element,
                        uint64_t result, JudgedError* judged) {
  const Op& op = engine.op();
  exact::Mpfr exact_value(element_precision);
  element_value(op, element, exact_value.get());
  if (!mpfr_number_p(exact_value.get())) return true;
  const FormatFields& d = op.d.fields();
  const Format fp64 = format("fp64");
  const Bound alpha = Bound::scalar(op, op.alpha), beta = Bound::scalar(op, op.beta);
  Bound sum_a, sum_b, sum_ab;
  for (size_t l = 0; l < element.a.size(); ++l) {
    const Bound x = Bound::magnitude(op.a, element.a[l]), y = Bound::magnitude(op.b, element.b[l]);
    sum_a += x;
    sum_b += y;
    sum_ab += x * y;
  }
  const Bound u = Bound::power(u_exponent);
  Bound product_error = omitted(engine, r, cuts, element, sum_a, sum_b);
  Bound addend = beta * Bound::magnitude(op.c, element.c);
  if (mpfr_zero_p(beta.get())) addend = Bound();
  if (mpfr_zero_p(alpha.get())) sum_ab = product_error = Bound();
  Bound rounding;
  const bool in_fp64 = engine.plan().sum == Summation::fp64;
  if (in_fp64) {
    // Each addition loses u times the sum until then. Terms that underflow in units of the tops are lost whole, in
    // partial_sums, too. Then one scaling rounds.
    product_error +=
        Bound::number(cuts.partial_sums, u_exponent + cuts.top_a + cuts.top_b) * (Bound::power(0) + Bound::power(-6));
    product_error +=
        Bound::power(least_half + 1 + cuts.top_a + cuts.top_b + r.bits, r.slice_products) + Bound::power(least_half);
  }
  const Bound product = alpha * (sum_ab + product_error);
  if (in_fp64) {
    if (exceeds_range(sum_ab + product_error, fp64)) return true;
    if (op.has_alpha_beta()) rounding += u * (product + addend) + Bound::power(least_half + 1);
    rounding += u * (product + addend + rounding);
  }
  const Bound total = product + addend + rounding;
  if (exceeds_range(total, op.d) || exceeds_range(product + rounding, fp64) || exceeds_range(addend + rounding, fp64))
    return true;
  if (!in_fp64 || !(op.d == fp64))
    rounding += Bound::power(-d.precision() + 1) * total + Bound::power(d.least_bit());  // in any rounding mode
  const Bound bound = alpha * product_error + rounding;
  return is_within(op.d, result, exact_value.get(), bound, judged);
}

}  // namespace mmafuzz::gemm
