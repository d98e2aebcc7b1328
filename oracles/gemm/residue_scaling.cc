// The powers of two by which a scheme of residues makes integers of rows and columns.
#include <algorithm>
#include <climits>
#include <cmath>

#include "oracles/gemm/residue_constants.h"

namespace mmafuzz::gemm {

ResidueGemm::Scales ResidueGemm::scales(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) const {
  const auto m = size_t(op_.m), n = size_t(op_.n), k = size_t(op_.k);
  const auto at_a = [&](size_t i, size_t l) { return decode(op_.a.fields(), a[i * k + l]); };
  const auto at_b = [&](size_t j, size_t l) { return decode(op_.b.fields(), b[l * n + j]); };
  const auto top_of = [](const Number& x) {
    return x.cls == NumberClass::finite ? x.exponent + fast_bit_length(x.significand) - 1 : INT_MIN;
  };
  /// The greatest f with 2^(2f) * x within what reconstruction finds.
  const auto greatest_scale = [&](mpfr_srcptr x) {
    if (mpfr_zero_p(x)) return 0L;
    long f = (mpfr_get_exp(constants_->limit.get()) - mpfr_get_exp(x)) / 2 + 1;
    exact::Mpfr scaled(256);
    do {
      mpfr_mul_2si(scaled.get(), x, 2 * --f, MPFR_RNDU);
    } while (mpfr_cmp(scaled.get(), constants_->limit.get()) > 0);
    return f;
  };
  const bool accurate = plan_.scaling == ResidueScaling::accurate,
             greatest_only = plan_.flaw == ResidueFlaw::greatest_only,
             last_left_out = plan_.flaw == ResidueFlaw::last_left_out;
  const size_t counted = last_left_out ? k - 1 : k;
  // Leading bits of magnitudes, rounded up: at most 64, for the row's greatest.
  const auto leading = [greatest_only](const Number& x, int top) -> int64_t {
    if (x.cls != NumberClass::finite) return 0;
    const int up = x.exponent + 5 - top;
    if (up >= 0) return static_cast<int64_t>(x.significand << up);
    const bool rest = up <= -64 || (x.significand & low_mask(-up)) != 0;
    return static_cast<int64_t>(up <= -64 ? 0 : x.significand >> -up) + (rest && !greatest_only ? 1 : 0);
  };
  Scales all{std::vector<int>(m, 0), std::vector<int>(n, 0)};
  std::vector<int> top_a(m, INT_MIN), top_b(n, INT_MIN);
  for (size_t i = 0; i < m; ++i)
    for (size_t l = 0; l < k; ++l) top_a[i] = std::max(top_a[i], top_of(at_a(i, l)));
  for (size_t j = 0; j < n; ++j)
    for (size_t l = 0; l < k; ++l) top_b[j] = std::max(top_b[j], top_of(at_b(j, l)));
  std::vector<int64_t> most_a(m, 0), most_b(n, 0);  // of the products of leading bits
  if (accurate) {
    for (size_t i = 0; i < m; ++i)
      for (size_t j = 0; j < n; ++j) {
        int64_t sum = 0;
        for (size_t l = 0; l < counted; ++l) sum += leading(at_a(i, l), top_a[i]) * leading(at_b(j, l), top_b[j]);
        most_a[i] = std::max(most_a[i], sum);
        most_b[j] = std::max(most_b[j], sum);
      }
  }
  const auto scale_of = [&](auto at, size_t line, int top, int64_t most) {
    if (top == INT_MIN) return 0;
    if (plan_.scaling == ResidueScaling::fast && !greatest_only && !last_left_out) {  // in fp64, where that decides
      double squares = 0;
      for (size_t l = 0; l < k; ++l) {
        const Number one = at(line, l);
        if (one.cls != NumberClass::finite) continue;
        const double part = std::ldexp(static_cast<double>(one.significand), std::max(one.exponent - top, -200));
        squares += part * part;
      }
      const double wanted = (constants_->limit_log - std::log2(squares)) / 2;
      if (std::fabs(wanted - std::nearbyint(wanted)) > 0x1p-30) return static_cast<int>(std::floor(wanted)) - top;
    }
    exact::Mpfr sum(256), x(64);
    if (accurate) {
      mpfr_set_sj(sum.get(), std::max<int64_t>(most, 1), MPFR_RNDU);
      return static_cast<int>(greatest_scale(sum.get())) + 5 - top;
    }
    mpfr_set_zero(sum.get(), 1);
    for (size_t l = 0; l < counted; ++l) {
      const Number one = at(line, l);
      if (one.cls != NumberClass::finite) continue;
      mpfr_set_uj_2exp(x.get(), one.significand, one.exponent, MPFR_RNDN);
      if (greatest_only) {
        mpfr_mul(x.get(), x.get(), x.get(), MPFR_RNDU);
        mpfr_max(sum.get(), sum.get(), x.get(), MPFR_RNDU);
        continue;
      }
      mpfr_fma(sum.get(), x.get(), x.get(), sum.get(), MPFR_RNDU);
    }
    if (plan_.scaling == ResidueScaling::fast) return static_cast<int>(greatest_scale(sum.get()));
    // floor(min(L - 1, L - log2(sum) / 2)) - floor(log2 amax), L = log2(P - 1) / 2 - 1.5, or - 2
    exact::Mpfr log(64), product(512);
    mpfr_set_str(product.get(), cpp_int(constants_->product - 1).str().c_str(), 10, MPFR_RNDD);
    mpfr_log2(log.get(), product.get(), MPFR_RNDD);
    const double l = mpfr_get_d(log.get(), MPFR_RNDD) / 2 - (plan_.scaling == ResidueScaling::fast2026 ? 2 : 1.5);
    mpfr_log2(log.get(), sum.get(), MPFR_RNDU);
    const double of_sum = mpfr_get_d(log.get(), MPFR_RNDU) / 2;
    return static_cast<int>(std::min(std::floor(l - 1), std::floor(l - of_sum))) - top;
  };
  const int more = plan_.flaw == ResidueFlaw::one_bit_more ? 1 : 0;
  for (size_t i = 0; i < m; ++i) all.a[i] = scale_of(at_a, i, top_a[i], most_a[i]) + more;
  for (size_t j = 0; j < n; ++j) all.b[j] = scale_of(at_b, j, top_b[j], most_b[j]);
  return all;
}

}  // namespace mmafuzz::gemm
