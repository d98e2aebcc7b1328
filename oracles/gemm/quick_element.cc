// The proof. All numbers here are fp64, u = 2^-53, in units of 2^(top of the row + top of the column), so that every
// factor x, y has a magnitude below 1 and the sum S of the magnitudes of n products is below n <= 4096.
//   Scaling loses at most 2^-1075 of a factor, of c and of the result, and products below 2^-969 lose at most 2^-1074
// each in themselves and in their errors; alpha and beta multiply that: together less than
// n * (1 + |alpha| + |beta|) * 2^-1000, which is added.
//   s = hi + lo with two-products and two-sums (Ogita, Rump, Oishi, "Accurate sum and dot product", 2005, Dot2) errs
// by at most gamma_n^2 * sum |x * y|, less than 2 n^2 u^2 S. We take (n + 2)^2 * 2^-102 * S, eight times as much, which
// also covers that S is computed.
//   alpha * s + beta * c: the two leading products and their sum are kept exactly as pairs; the parts that are rounded
// are below 2^-50 * (|alpha| S + |beta c|), and four roundings of them lose less than 2^-100 of that. We take 2^-96.
#include "oracles/gemm/quick_element.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "oracles/gemm/times_power.h"
#include "oracles/lanes/host_float.h"

namespace mmafuzz::gemm {
namespace {

constexpr double tiny = 0x1p-1000;
constexpr double slightly_less = 1 - 0x1p-30;  ///< makes a lower bound of a computed sum of at most max_k magnitudes
constexpr double limit = 0x1p900;              ///< a smaller number times greatest_scalar does not overflow
constexpr double greatest_scalar = 0x1p100;    ///< alpha and beta are below it
constexpr int max_k = 4096;

struct Pair {
  double high, low;
};
Pair two_sum(double x, double y) {
  const double sum = x + y, part = sum - x;
  return {sum, (x - (sum - part)) + (y - part)};
}
Pair two_product(double x, double y) {
  const double product = x * y;
  return {product, std::fma(x, y, -product)};
}

bool is_host_format(const Format& f) { return f == format("fp64") || f == format("fp32"); }

}  // namespace

QuickElements::QuickElements(const Op& op)
    : op_(op),
      usable_(is_host_format(op.a) && is_host_format(op.b) && is_host_format(op.c) && is_host_format(op.d) &&
              !op.flush_to_zero && op.k <= max_k) {
  if (!usable_) return;
  if (op.alpha) alpha_ = host_value(op.d.fields(), *op.alpha);
  if (op.beta) beta_ = host_value(op.d.fields(), *op.beta);
  usable_ = std::fabs(alpha_) < greatest_scalar && std::fabs(beta_) < greatest_scalar && default_float_environment();
}

void QuickElements::load_line(const FormatFields& f, const uint64_t* numbers, size_t stride, Line& line) const {
  line = {.value = std::move(line.value)};  // which keeps its memory
  line.value.resize(size_t(op_.k));
  double greatest = 0;
  for (size_t l = 0; l < line.value.size(); ++l) {
    const double x = host_value(f, numbers[l * stride]);
    line.finite &= std::isfinite(x);
    greatest = std::max(greatest, std::fabs(x));
    line.value[l] = x;
  }
  if (!line.finite || greatest == 0) return;
  std::frexp(greatest, &line.top);
  // Exact except for underflow, which the proof counts.
  for (double& x : line.value) {
    const bool zero = x == 0;
    x = times_power(x, -line.top);
    line.vanishing |= !zero && x == 0;
    line.sum += std::fabs(x);
  }
}

void QuickElements::load(const GemmCase& matrices) {
  if (!usable_) return;
  rows_.resize(size_t(op_.m));
  columns_.resize(size_t(op_.n));
  for (size_t i = 0; i < rows_.size(); ++i) load_line(op_.a.fields(), &matrices.a[i * size_t(op_.k)], 1, rows_[i]);
  for (size_t j = 0; j < columns_.size(); ++j) load_line(op_.b.fields(), &matrices.b[j], columns_.size(), columns_[j]);
  c_ = matrices.c;
}

QuickElements::Distance QuickElements::distance(int i, int j, uint64_t result) const {
  Distance unknown;
  if (!usable_) return unknown;
  const Line &row = rows_[size_t(i)], &column = columns_[size_t(j)];
  const double c = host_value(op_.c.fields(), c_[size_t(i) * size_t(op_.n) + size_t(j)]),
               d = host_value(op_.d.fields(), result);
  if (!row.finite || !column.finite || !std::isfinite(c)) return unknown;
  Distance found;
  found.scale = -(row.top + column.top);
  const double scaled_c = times_power(c, found.scale), scaled_d = std::isfinite(d) ? times_power(d, found.scale) : 0;
  if (!(std::fabs(scaled_c) < limit && std::fabs(scaled_d) < limit)) return unknown;
  double high = 0, low = 0, magnitude = 0;
  bool any_product = false;
  for (size_t l = 0; l < row.value.size(); ++l) {
    const Pair product = two_product(row.value[l], column.value[l]), sum = two_sum(high, product.high);
    high = sum.high;
    low += product.low + sum.low;
    magnitude += std::fabs(product.high);
    any_product |= row.value[l] != 0 && column.value[l] != 0;
  }
  found.known = true;
  if (!any_product && !row.vanishing && !column.vanishing && c == 0 && d == 0) return found;  // zeros alone
  const Pair scaled = two_product(alpha_, high), addend = two_product(beta_, scaled_c);
  const Pair total = two_sum(scaled.high, addend.high), rest = two_sum(scaled_d, -total.high);
  const double below = total.low + scaled.low + addend.low + alpha_ * low;
  const double n = static_cast<double>(row.value.size()), a = std::fabs(alpha_), b = std::fabs(beta_);
  found.products = std::max(0.0, magnitude * slightly_less - tiny);
  found.scaled_products = a * found.products * slightly_less;
  found.addend = std::max(0.0, std::fabs(addend.high) * slightly_less - (1 + b) * tiny);
  found.upper_bound = std::isfinite(d) ? std::fabs(rest.high + (rest.low - below)) * (1 + 0x1p-50) +
                                             (a * (n + 2) * (n + 2) * 0x1p-102 + 0x1p-96 * a) * magnitude +
                                             0x1p-96 * std::fabs(addend.high) + n * (1 + a + b) * tiny
                                       : HUGE_VAL;
  return found;
}

bool QuickElements::surely_within(const OzakiGemm& engine, const OzakiRecord& r, const ElementCuts& cuts, int i, int j,
                                  uint64_t result) const {
  if (usable_) {  // no bound is known for infinities and NaNs, and a factor that is one makes its term one
    const bool products = rows_[size_t(i)].finite && columns_[size_t(j)].finite,
               addend = std::isfinite(host_value(op_.c.fields(), c_[size_t(i) * size_t(op_.n) + size_t(j)]));
    if ((!products && alpha_ != 0) || (!addend && beta_ != 0)) return true;
  }
  const Distance error = distance(i, j, result);
  if (!error.known) return false;
  const double products = error.scaled_products + error.addend;
  // No bound is known, either, where a result can overflow. At least 2^-1000: a scale far below must not make it 0.
  if (products >= times_power(1, std::max(op_.d.fields().emax() + 1 + error.scale, -1000))) return true;
  // A lower bound on the bound of within_ozaki_bound: some of its terms, which are all positive.
  double omitted = 0;
  if (cuts.needed_a > r.slices_a) omitted += columns_[size_t(j)].sum * times_power(1, -r.slices_a * r.widths.a);
  if (cuts.needed_b > r.slices_b) omitted += rows_[size_t(i)].sum * times_power(1, -r.slices_b * r.widths.b);
  if (engine.plan().fast) {
    for (int p = 1; p <= std::min(r.slices_a, cuts.needed_a); ++p) {
      const int q = std::max(1, r.wanted_slices + 2 - p);
      if (q <= std::min(r.slices_b, cuts.needed_b))
        omitted += op_.k * times_power(1, -(p - 1) * r.widths.a - (q - 1) * r.widths.b);
    }
  }
  omitted *= slightly_less;
  const bool in_fp64 = engine.plan().sum == Summation::fp64;
  double bound = std::fabs(alpha_) * omitted;
  if (in_fp64) {
    bound += 0x1p-53 * std::fabs(alpha_) * cuts.partial_sums * slightly_less;
    bound += 0x1p-53 * (op_.has_alpha_beta() ? 2 : 1) * products;
    bound += times_power(std::fabs(alpha_), -1075 + error.scale);
  }
  if (!in_fp64 || op_.d.fields().width != 64) {
    bound += times_power(1, 1 - op_.d.fields().precision()) * products;
    bound += times_power(1, op_.d.fields().least_bit() + error.scale);
  }
  return std::isfinite(error.upper_bound) && error.upper_bound <= bound * slightly_less;
}

bool QuickElements::surely_rounded(int i, int j, uint64_t result) const {
  const FormatFields& f = op_.d.fields();
  if (op_.rounding != Rounding::nearest_even || is_zero(f, result)) return false;
  const Distance error = distance(i, j, result);
  if (!error.known || is_special(f, result)) return false;
  // A number nearer than half of the gap to its neighbour is the nearest one; below a power of two the gap is half.
  const Number d = decode(f, result);
  const int gap = std::max(d.exponent + static_cast<int>(std::bit_width(d.significand)) - f.precision(), f.least_bit());
  const bool power = std::has_single_bit(d.significand);
  const double half = times_power(1, gap - (power ? 2 : 1) - rows_[size_t(i)].top - columns_[size_t(j)].top);
  return error.upper_bound < half;
}

}  // namespace mmafuzz::gemm
