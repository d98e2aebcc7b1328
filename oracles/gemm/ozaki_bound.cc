#include "oracles/gemm/ozaki_bound.h"

#include "oracles/exact/mpfr_reference.h"
#include "oracles/gemm/rounded_up.h"

namespace mmafuzz::gemm {
namespace {

using exact::Mpfr;

constexpr int u_exponent = -53;    ///< 2^u_exponent is fp64's unit roundoff u
constexpr int least_half = -1075;  ///< 2^least_half is half of fp64's least subnormal number

/// An upper bound on what the digits that are left out contribute to a * b.
Up omitted(const OzakiGemm& engine, const OzakiRecord& r, const ElementCuts& cuts, const Element& in, const Up& sum_a,
           const Up& sum_b) {
  const auto k = static_cast<long>(in.a.size());
  Up all;
  if (cuts.needed_a > r.slices_a) all += sum_b * Up::power(cuts.top_a - r.slices_a * r.widths.a);
  if (cuts.needed_b > r.slices_b) all += sum_a * Up::power(cuts.top_b - r.slices_b * r.widths.b);
  if (!engine.plan().fast) return all;
  for (int p = 1; p <= std::min(r.slices_a, cuts.needed_a); ++p) {
    const int q = std::max(1, r.d + 2 - p);  // the first slice of b that is not multiplied with slice p of a
    if (q > std::min(r.slices_b, cuts.needed_b)) continue;
    all += Up::power(cuts.top_a + cuts.top_b - (p - 1) * r.widths.a - (q - 1) * r.widths.b, k);
  }
  return all;
}

}  // namespace

bool within_ozaki_bound(const OzakiGemm& engine, const OzakiRecord& r, const ElementCuts& cuts, const Element& in,
                        uint64_t result, JudgedError* judged) {
  const Op& op = engine.op();
  Mpfr value(element_precision);
  element_value(op, in, value.get());
  if (!mpfr_number_p(value.get())) return true;
  const FormatFields& d = op.d.fields();
  const Format fp64 = format("fp64");
  const uint64_t one = uint64_t(d.bias) << d.fraction_bits;
  const Up alpha = Up::magnitude(op.d, op.alpha.value_or(one)), beta = Up::magnitude(op.d, op.beta.value_or(one));
  Up sum_a, sum_b, sum_ab;
  for (size_t l = 0; l < in.a.size(); ++l) {
    const Up x = Up::magnitude(op.a, in.a[l]), y = Up::magnitude(op.b, in.b[l]);
    sum_a += x;
    sum_b += y;
    sum_ab += x * y;
  }
  const Up u = Up::power(u_exponent);
  Up product_error = omitted(engine, r, cuts, in, sum_a, sum_b);
  Up addend = beta * Up::magnitude(op.c, in.c);
  if (mpfr_zero_p(beta.get())) addend = Up();
  if (mpfr_zero_p(alpha.get())) sum_ab = product_error = Up();
  Up rounding;
  const bool in_fp64 = engine.plan().sum == Summation::fp64;
  if (in_fp64) {
    // Each addition loses u times the sum until then. Terms that underflow in units of the tops are lost whole, in
    // partial_sums, too. Then one scaling rounds.
    product_error +=
        Up::number(cuts.partial_sums, u_exponent + cuts.top_a + cuts.top_b) * (Up::power(0) + Up::power(-6));
    product_error +=
        Up::power(least_half + 1 + cuts.top_a + cuts.top_b + r.bits, r.slice_products) + Up::power(least_half);
  }
  const Up product = alpha * (sum_ab + product_error);
  if (in_fp64) {
    if (exceeds_range(sum_ab + product_error, fp64)) return true;
    if (op.has_alpha_beta()) rounding += u * (product + addend) + Up::power(least_half + 1);
    rounding += u * (product + addend + rounding);
  }
  const Up total = product + addend + rounding;
  if (exceeds_range(total, op.d) || exceeds_range(product + rounding, fp64) || exceeds_range(addend + rounding, fp64))
    return true;
  if (!in_fp64 || !(op.d == fp64))
    rounding += Up::power(-d.precision() + 1) * total + Up::power(d.least_bit());  // in any rounding mode
  const Up bound = alpha * product_error + rounding;
  Mpfr got(64), error(element_precision);
  exact::set_from_encoding(got.get(), op.d, result);
  if (!mpfr_number_p(got.get())) return false;
  exact::must_be_exact(mpfr_sub(error.get(), got.get(), value.get(), MPFR_RNDN));
  return is_within(error.get(), bound, judged);
}

}  // namespace mmafuzz::gemm
