// The powers of two by which a scheme of residues multiplies lines (rows of a, columns of b) to make integers of them.
#include <algorithm>
#include <climits>
#include <cmath>

#include "oracles/gemm/residue_constants.h"
#include "oracles/gemm/s8_product.h"
#include "oracles/gemm/times_power.h"
#include "oracles/lanes/host_float.h"

namespace mmafuzz::gemm {
namespace {

/// The exponent of the greatest number of each line; INT_MIN for a line of zeros.
std::vector<int> tops_of(const ResidueGemm::Lines& x) {
  std::vector<int> tops(x.count, INT_MIN);
  for (size_t line = 0; line < x.count; ++line) {
    double greatest = 0;
    for (size_t l = 0; l < x.length; ++l) greatest = std::max(greatest, std::fabs(x.numbers_of(line)[l]));
    if (greatest > 0) tops[line] = std::ilogb(greatest);
  }
  return tops;
}

/// Each magnitude as an integer of at most 64 in units of 2^(tops[line] - 5), rounded up or, as a flaw, not. Only the
/// first `counted` numbers of each line; the others are 0.
std::vector<int8_t> leading_bits(const ResidueGemm::Lines& x, const std::vector<int>& tops, size_t counted,
                                 bool rounds_up) {
  std::vector<int8_t> result(x.number.size(), 0);
  for (size_t line = 0; line < x.count; ++line)
    for (size_t l = 0; l < counted; ++l) {
      const double magnitude = std::fabs(x.numbers_of(line)[l]);
      if (magnitude == 0) continue;
      const double bits = std::ldexp(magnitude, 5 - tops[line]);
      result[line * x.length + l] = static_cast<int8_t>(rounds_up ? std::max(std::ceil(bits), 1.0) : bits);
    }
  return result;
}

}  // namespace

ResidueGemm::Scales ResidueGemm::scales(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) const {
  const DefaultFloatEnvironment environment;
  return scales(rows_of(a), columns_of(b));
}

ResidueGemm::Scales ResidueGemm::scales(const Lines& a, const Lines& b) const {
  /// The greatest f with 2^(2f) * x within what reconstruction finds.
  const auto greatest_scale = [&](mpfr_srcptr x) {
    long f = (mpfr_get_exp(constants_->greatest_in_mpfr.get()) - mpfr_get_exp(x)) / 2 + 1;
    exact::Mpfr scaled(256);
    do {
      mpfr_mul_2si(scaled.get(), x, 2 * --f, MPFR_RNDU);
    } while (mpfr_cmp(scaled.get(), constants_->greatest_in_mpfr.get()) > 0);
    return f;
  };
  const bool accurate = plan_.scaling == ResidueScaling::accurate,
             greatest_only = plan_.flaw == ResidueFlaw::greatest_only,
             last_left_out = plan_.flaw == ResidueFlaw::last_left_out;
  const size_t counted = last_left_out ? a.length - 1 : a.length;
  const std::vector<int> top_a = tops_of(a), top_b = tops_of(b);
  std::vector<int32_t> max_a(a.count, 0), max_b(b.count, 0);  // maxima of the product of the leading bits
  if (accurate) {
    const std::vector<int8_t> bits_a = leading_bits(a, top_a, counted, !greatest_only),
                              bits_b = leading_bits(b, top_b, counted, !greatest_only);
    std::vector<int32_t> sums(a.count * b.count);
    s8_product(a.count, b.count, a.length, bits_a.data(), bits_b.data(), sums.data());
    for (size_t i = 0, element = 0; i < a.count; ++i)
      for (size_t j = 0; j < b.count; ++j, ++element) {
        max_a[i] = std::max(max_a[i], sums[element]);
        max_b[j] = std::max(max_b[j], sums[element]);
      }
  }
  const auto scale_of = [&](const double* line, int top, int32_t greatest_product) {
    if (top == INT_MIN) return 0;
    if (plan_.scaling == ResidueScaling::fast && !greatest_only && !last_left_out) {
      double squares = 0;
      for (size_t l = 0; l < a.length; ++l) {
        const double scaled = times_power(line[l], -top);
        squares += scaled * scaled;
      }
      const double wanted = (constants_->log_of_greatest - std::log2(squares)) / 2;
      // An fp64 number that is this far from all integers has the right floor. Otherwise MPFR decides below.
      if (std::fabs(wanted - std::nearbyint(wanted)) > 0x1p-30) return static_cast<int>(std::floor(wanted)) - top;
    }
    exact::Mpfr sum(256), x(64);
    if (accurate) {
      mpfr_set_sj(sum.get(), std::max(greatest_product, 1), MPFR_RNDU);
      return static_cast<int>(greatest_scale(sum.get())) + 5 - top;
    }
    mpfr_set_zero(sum.get(), 1);
    for (size_t l = 0; l < counted; ++l) {
      mpfr_set_d(x.get(), line[l], MPFR_RNDN);
      if (greatest_only) {
        mpfr_mul(x.get(), x.get(), x.get(), MPFR_RNDU);
        mpfr_max(sum.get(), sum.get(), x.get(), MPFR_RNDU);
        continue;
      }
      mpfr_fma(sum.get(), x.get(), x.get(), sum.get(), MPFR_RNDU);
    }
    if (plan_.scaling == ResidueScaling::fast) {
      // A number that is left out can be much greater than the others: integers must stay below 2^100
      // (residues_simd.h).
      const long scale = mpfr_zero_p(sum.get()) ? 0 : greatest_scale(sum.get());
      return static_cast<int>(std::min(scale, 96L - top));
    }
    // GEMMul8's rule: floor(min(L - 1, L - log2(sum) / 2)) - top; L = log2(P - 1) / 2 - 1.5, in 2026 - 2.
    exact::Mpfr log(64), product(512);
    set(product.get(), constants_->product - 1);
    mpfr_log2(log.get(), product.get(), MPFR_RNDD);
    const double l = mpfr_get_d(log.get(), MPFR_RNDD) / 2 - (plan_.scaling == ResidueScaling::fast2026 ? 2 : 1.5);
    mpfr_log2(log.get(), sum.get(), MPFR_RNDU);
    const double half_log = mpfr_get_d(log.get(), MPFR_RNDU) / 2;
    return static_cast<int>(std::min(std::floor(l - 1), std::floor(l - half_log))) - top;
  };
  const int extra_bit = plan_.flaw == ResidueFlaw::one_bit_more ? 1 : 0;
  Scales scales;
  for (size_t i = 0; i < a.count; ++i) scales.a.push_back(scale_of(a.numbers_of(i), top_a[i], max_a[i]) + extra_bit);
  for (size_t j = 0; j < b.count; ++j) scales.b.push_back(scale_of(b.numbers_of(j), top_b[j], max_b[j]));
  return scales;
}

}  // namespace mmafuzz::gemm
