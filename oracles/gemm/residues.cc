#include "oracles/gemm/residues.h"

#include <algorithm>
#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstring>
#include <numeric>
#include <tuple>

#include "core/function_unit.h"
#include "core/host_number.h"
#include "oracles/exact/exact_gemm.h"
#include "oracles/gemm/fp32.h"
#include "oracles/gemm/gemm_case.h"
#include "oracles/gemm/rounded_up.h"
#include "oracles/gemm/width.h"

namespace mmafuzz::gemm {
namespace {

using boost::multiprecision::cpp_int;

constexpr size_t dots_together = 4096;  ///< in one call of the unit, which costs more than its dots
constexpr int base_of_digits = 16;      ///< of a modulus that is no square: |x| <= 255 is 16 * 16 + 8 at most

/// In [-p/2, p/2).
int centred(int64_t x, int p) {
  const auto r = static_cast<int>(((x % p) + p) % p);
  return 2 * r >= p ? r - p : r;
}

int root_of(int modulus) {
  const auto root = static_cast<int>(std::lround(std::sqrt(modulus)));
  return root * root == modulus ? root : 0;
}

/// The high and the low digit: x = base * high + low.
std::pair<int, int> digits_of(int x, int base) {
  const int high = static_cast<int>(std::lround(static_cast<double>(x) / base));
  return {high, x - base * high};
}

void set(mpfr_ptr to, const cpp_int& from) { mpfr_set_str(to, from.str().c_str(), 10, MPFR_RNDN); }

/// The nearest fp64 number, ties to even.
double nearest_double(const cpp_int& x) {
  exact::Mpfr value(512);
  set(value.get(), x);
  return mpfr_get_d(value.get(), MPFR_RNDN);
}

int exponent_of(const cpp_int& x) { return static_cast<int>(msb(x)); }

bool is_finite(const Number& n) { return n.cls == NumberClass::finite || n.cls == NumberClass::zero; }

}  // namespace

const std::vector<int>& residue_moduli(const Format& narrow) {
  // arXiv 2504.08009; arXiv 2603.10634: six squares of digits up to 16, then what two digits of base 16 hold.
  static const std::vector<int> of_s8 = {256, 255, 253, 251, 247, 241, 239, 233, 229, 227,
                                         223, 217, 211, 199, 197, 193, 191, 181, 179, 173},
                                of_e4m3 = {1089, 1024, 961, 841, 625, 529, 511, 509, 503, 499,
                                           491,  487,  481, 479, 467, 463, 461, 457, 449, 443};
  return narrow.fields().integer ? of_s8 : of_e4m3;
}

int products_of_modulus(const Format& narrow, int modulus) {
  return narrow.fields().integer ? 1 : root_of(modulus) ? 3 : 4;
}

Op residue_dot(const ResiduePlan& plan) {
  Op op;
  op.a = op.b = plan.narrow;
  op.c = op.d = format(plan.narrow.fields().integer ? "s32" : "fp32");
  op.k = plan.unit_k;
  return op;
}

/// What follows from the moduli alone.
struct ResidueGemm::Constants {
  cpp_int product;
  std::vector<cpp_int> weights;          ///< 1 modulo one modulus, 0 modulo the others
  std::vector<double> high, low, whole;  ///< the weights in halves, and rounded to fp64
  double inverse, product_high, product_low;
  exact::Mpfr half{512};       ///< (product - 1) / 2
  double half_log = 0;         ///< its logarithm
  std::vector<uint8_t> codes;  ///< of -256 to 255 in the narrow format, where they are its numbers
  int unit = 0;                ///< exponent of the last bit of the high halves
  int residues = 0;            ///< the greatest sum of residues' magnitudes
};

struct ResidueGemm::Integers {
  int rows = 0, length = 0;
  std::vector<int64_t> significand;  ///< times 2^exponent
  std::vector<int> exponent;
  std::vector<uint8_t> special;  ///< by row: an infinity or a NaN is in it
};

ResidueGemm::ResidueGemm(const ResiduePlan& plan, std::unique_ptr<Unit> dot, const Op& op)
    : plan_(plan), dot_(std::move(dot)), dot_op_(residue_dot(plan)), op_(op) {
  const bool integer = plan.narrow.fields().integer;
  const int64_t greatest = integer ? 128 * 128 : 16 * 16;
  const int64_t most = ((int64_t{1} << exact_integer_bits(dot_op_, *dot_)) - (integer ? 1 : 0)) / greatest;
  block_ = static_cast<int>(std::min<int64_t>(most, plan.block ? plan.block : max_extent));
  moduli_.assign(residue_moduli(plan.narrow).begin(), residue_moduli(plan.narrow).begin() + plan.moduli);

  auto c = std::make_shared<Constants>();
  c->product = 1;
  for (const int p : moduli_) c->product *= p;
  for (const int p : moduli_) {
    const cpp_int others = c->product / p;
    int inverse = 1;
    while (others * inverse % p != 1) ++inverse;
    c->weights.push_back(others * inverse);
    c->residues += p / 2;
  }
  // The high halves have as many bits as leave their sum without error, counted from the greatest one.
  const int bits = 53 - std::bit_width(static_cast<unsigned>(c->residues - 1));
  c->unit = exponent_of(*std::max_element(c->weights.begin(), c->weights.end())) + 1 - bits;
  for (const cpp_int& weight : c->weights) {
    const cpp_int high = c->unit > 0 ? cpp_int(weight >> unsigned(c->unit) << unsigned(c->unit)) : weight;
    c->whole.push_back(nearest_double(weight));
    c->high.push_back(nearest_double(high));
    c->low.push_back(plan.flaw == ResidueFlaw::one_weight ? 0 : nearest_double(weight - high));
  }
  c->product_high = nearest_double(c->product);
  c->product_low = nearest_double(c->product - cpp_int(c->product_high));
  exact::Mpfr whole(512), inverse(53);
  set(whole.get(), c->product);
  mpfr_ui_div(inverse.get(), 1, whole.get(), MPFR_RNDN);
  c->inverse = mpfr_get_d(inverse.get(), MPFR_RNDN);
  set(c->half.get(), (c->product - 1) / 2);
  exact::Mpfr log(64);
  mpfr_log2(log.get(), c->half.get(), MPFR_RNDN);
  c->half_log = mpfr_get_d(log.get(), MPFR_RNDN);
  const FormatFields& f = plan.narrow.fields();
  for (int x = -256; x < 256; ++x) {
    const uint64_t code = f.integer ? static_cast<uint64_t>(int64_t{x})
                                    : round_once(f, x < 0, static_cast<uint64_t>(std::abs(x)), 0, false).encoding;
    c->codes.push_back(static_cast<uint8_t>(code));
  }
  constants_ = std::move(c);
}

ResidueGemm::Scales ResidueGemm::scales(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) const {
  const auto m = size_t(op_.m), n = size_t(op_.n), k = size_t(op_.k);
  const auto at_a = [&](size_t i, size_t l) { return decode(op_.a.fields(), a[i * k + l]); };
  const auto at_b = [&](size_t j, size_t l) { return decode(op_.b.fields(), b[l * n + j]); };
  const auto top_of = [](const Number& x) {
    return x.cls == NumberClass::finite ? x.exponent + fast_bit_length(x.significand) - 1 : INT_MIN;
  };
  /// The greatest f with 2^(2f) * x <= (P - 1) / 2.
  const auto greatest_scale = [&](mpfr_srcptr x) {
    if (mpfr_zero_p(x)) return 0L;
    long f = (mpfr_get_exp(constants_->half.get()) - mpfr_get_exp(x)) / 2 + 1;
    exact::Mpfr scaled(256);
    do {
      mpfr_mul_2si(scaled.get(), x, 2 * --f, MPFR_RNDU);
    } while (mpfr_cmp(scaled.get(), constants_->half.get()) > 0);
    return f;
  };
  const bool accurate = plan_.scaling == ResidueScaling::accurate,
             greatest_only = plan_.flaw == ResidueFlaw::greatest_only;
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
        for (size_t l = 0; l < k; ++l) sum += leading(at_a(i, l), top_a[i]) * leading(at_b(j, l), top_b[j]);
        most_a[i] = std::max(most_a[i], sum);
        most_b[j] = std::max(most_b[j], sum);
      }
  }
  const auto scale_of = [&](auto at, size_t line, int top, int64_t most) {
    if (top == INT_MIN) return 0;
    if (plan_.scaling == ResidueScaling::fast && !greatest_only) {  // in fp64, where that decides
      double squares = 0;
      for (size_t l = 0; l < k; ++l) {
        const Number one = at(line, l);
        if (one.cls != NumberClass::finite) continue;
        const double part = std::ldexp(static_cast<double>(one.significand), std::max(one.exponent - top, -200));
        squares += part * part;
      }
      const double wanted = (constants_->half_log - std::log2(squares)) / 2;
      if (std::fabs(wanted - std::nearbyint(wanted)) > 0x1p-30) return static_cast<int>(std::floor(wanted)) - top;
    }
    exact::Mpfr sum(256), x(64);
    if (accurate) {
      mpfr_set_sj(sum.get(), std::max<int64_t>(most, 1), MPFR_RNDU);
      return static_cast<int>(greatest_scale(sum.get())) + 5 - top;
    }
    mpfr_set_zero(sum.get(), 1);
    for (size_t l = 0; l < k; ++l) {
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
    exact::Mpfr log(64), half(512);
    mpfr_mul_2ui(half.get(), constants_->half.get(), 1, MPFR_RNDD);
    mpfr_log2(log.get(), half.get(), MPFR_RNDD);
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

ResidueGemm::Integers ResidueGemm::integers(const FormatFields& f, const std::vector<uint64_t>& numbers,
                                            const std::vector<int>& scales, int length) const {
  Integers all;
  all.rows = static_cast<int>(scales.size());
  all.length = length;
  all.significand.assign(numbers.size(), 0);
  all.exponent.assign(numbers.size(), 0);
  all.special.assign(scales.size(), 0);
  for (size_t at = 0; at < numbers.size(); ++at) {
    const size_t row = at / size_t(length);
    const Number x = decode(f, numbers[at]);
    if (!is_finite(x)) all.special[row] = 1;
    if (x.cls != NumberClass::finite) continue;
    const int exponent = x.exponent + scales[row];
    uint64_t kept = x.significand;
    if (exponent < 0) {
      const int drop = -exponent;
      kept = drop > 63 ? 0 : kept >> drop;
    }
    all.significand[at] = x.negative ? -static_cast<int64_t>(kept) : static_cast<int64_t>(kept);
    all.exponent[at] = std::max(exponent, 0);
  }
  return all;
}

std::vector<std::vector<int64_t>> ResidueGemm::sums(const std::vector<Factors>& factors) const {
  const auto m = size_t(op_.m), n = size_t(op_.n), k = size_t(op_.k), unit_k = size_t(plan_.unit_k);
  const bool integer = plan_.narrow.fields().integer;
  const uint8_t* codes = constants_->codes.data() + 256;
  std::vector<std::vector<int64_t>> all(factors.size(), std::vector<int64_t>(m * n, 0));
  Batch dots(dot_op_);
  dots.resize(factors.size() * m * n);
  const size_t bytes = 4 * factors.size() * m * n;  // of c and of the results
  Outcomes outcomes;
  const size_t chain = size_t(block_) / unit_k * unit_k;
  for (size_t from = 0; from < k; from += unit_k) {
    if (from % chain == 0) std::memset(dots.inputs()[2].data(), 0, bytes);
    const size_t there = std::min(unit_k, k - from);
    uint8_t *to_a = dots.inputs()[0].data(), *to_b = dots.inputs()[1].data();  // narrow: a byte each
    if (there < unit_k) {
      std::memset(to_a, 0, dots.size() * unit_k);
      std::memset(to_b, 0, dots.size() * unit_k);
    }
    for (const Factors& one : factors)
      for (size_t i = 0; i < m; ++i)
        for (size_t j = 0; j < n; ++j, to_a += unit_k, to_b += unit_k)
          for (size_t l = 0; l < there; ++l) {
            to_a[l] = codes[one.a[i * k + from + l]];
            to_b[l] = codes[one.b[j * k + from + l]];
          }
    dot_->run(dots, outcomes);
    const bool ends = (from + unit_k) % chain == 0 || from + unit_k >= k;
    for (size_t at = 0; ends && at < dots.size(); ++at) {
      const auto bits = static_cast<uint32_t>(outcomes.results.get(at));
      all[at / (m * n)][at % (m * n)] +=
          integer ? int64_t{static_cast<int32_t>(bits)} : static_cast<int64_t>(std::bit_cast<float>(bits));
    }
    std::memcpy(dots.inputs()[2].data(), outcomes.results.data(), bytes);
  }
  return all;
}

void ResidueGemm::add_factors(const Integers& a, const Integers& b, size_t at, std::vector<Factors>& factors) const {
  const int p = moduli_[at];
  const bool of_s8 = plan_.narrow.fields().integer;
  const auto residues = [&](const Integers& x) {
    std::vector<int> powers = {1 % p};
    const int other = plan_.flaw == ResidueFlaw::wrong_power ? moduli_[(at + 1) % moduli_.size()] : p;
    std::vector<int> all(x.significand.size());
    for (size_t i = 0; i < all.size(); ++i) {
      if (x.significand[i] == 0) continue;
      while (powers.size() <= size_t(x.exponent[i])) powers.push_back(2 * powers.back() % other);
      all[i] = centred(x.significand[i] % p * powers[size_t(x.exponent[i])], p);
      if (plan_.flaw == ResidueFlaw::unsigned_residue && 2 * all[i] == -p) all[i] = of_s8 ? 127 : all[i] + p - 1;
    }
    return all;
  };
  std::vector<int> x = residues(a), y = residues(b);
  if (of_s8) {
    factors.push_back({std::move(x), std::move(y)});
    return;
  }
  const int root = root_of(p), base = root ? root : base_of_digits;
  const auto split = [&](std::vector<int>& all) {  // leaves the low digits
    std::vector<int> high(all.size());
    for (size_t i = 0; i < all.size(); ++i) std::tie(high[i], all[i]) = digits_of(all[i], base);
    return high;
  };
  std::vector<int> x1 = split(x), y1 = split(y);
  factors.push_back({x1, y});
  factors.push_back({x, y1});
  factors.push_back({std::move(x), std::move(y)});
  if (!root) factors.push_back({std::move(x1), std::move(y1)});
}

std::vector<int> ResidueGemm::product_modulo(size_t at, const std::vector<int64_t>* sums) const {
  const int p = moduli_[at], root = root_of(p), base = root ? root : base_of_digits;
  std::vector<int> result(size_t(op_.m) * size_t(op_.n));
  if (plan_.flaw == ResidueFlaw::lost_modulus && at + 1 == moduli_.size()) return result;
  const bool of_s8 = plan_.narrow.fields().integer, all_digits = plan_.flaw != ResidueFlaw::digits_swapped;
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t sum = sums[0][i];
    if (!of_s8) {
      sum = base * ((sums[0][i] + sums[1][i]) % p) + (all_digits ? sums[2][i] % p : 0);
      if (!root) sum += int64_t{base} * base % p * (sums[3][i] % p);
    }
    result[i] = centred(sum, p);
    if (!of_s8 && 2 * result[i] == -p) result[i] = p / 2;  // as GEMMul8; the weighted sum is rounded another way
  }
  return result;
}

bool ResidueGemm::in_pairs() const {
  return plan_.sum == ResidueSum::fp64 && plan_.moduli > (plan_.narrow.fields().integer ? 6 : 5);
}

uint64_t ResidueGemm::reconstructed(const std::vector<std::vector<int>>& residues, size_t element, int exponent) const {
  const Constants& c = *constants_;
  const FormatFields& d = op_.d.fields();
  if (plan_.sum == ResidueSum::exact) {
    cpp_int sum = 0;
    for (size_t i = 0; i < moduli_.size(); ++i) sum += c.weights[i] * residues[i][element];
    sum %= c.product;
    if (plan_.flaw != ResidueFlaw::truncated_quotient) {
      if (2 * sum > c.product) sum -= c.product;
      if (2 * sum < -c.product) sum += c.product;
    }
    const bool negative = sum < 0;
    cpp_int magnitude = abs(sum);
    if (magnitude == 0) return d.encode_zero(false);
    const int drop = std::max(0, exponent_of(magnitude) - 61);
    const cpp_int kept = magnitude >> unsigned(drop);
    const bool sticky = (kept << unsigned(drop)) != magnitude;
    // One more bit for what is dropped: rounding sees it below the last bit.
    return round_once(d, negative, static_cast<uint64_t>(kept) << 1 | (sticky ? 1 : 0), drop - 1 + exponent, false)
        .encoding;
  }
  const bool pairs = in_pairs();
  const std::vector<double>& weights = pairs ? c.high : c.whole;
  double high = 0, low = 0;
  for (size_t i = 0; i < moduli_.size(); ++i) {
    high = std::fma(weights[i], residues[i][element], high);
    if (pairs) low = std::fma(c.low[i], residues[i][element], low);
  }
  const double multiple =
      plan_.flaw == ResidueFlaw::truncated_quotient ? -std::trunc(high * c.inverse) : -std::nearbyint(high * c.inverse);
  double rest = std::fma(multiple, c.product_high, high);
  if (pairs) rest = std::fma(multiple, c.product_low, rest + low);
  const double scaled = std::ldexp(rest, exponent);
  return convert_number(d, decode(ieee_fields(11, 52), std::bit_cast<uint64_t>(scaled)), {}).encoding;
}

void ResidueGemm::run(const Batch& batch, Outcomes& outcomes) const {
  prepare(batch, outcomes);
  for (size_t i = 0; i < batch.size(); ++i) one_product(batch, i, outcomes.results);
}

void ResidueGemm::one_product(const Batch& batch, size_t index, Column& results) const {
  GemmCase in(op_);
  in.load(batch, index);
  const auto m = size_t(op_.m), n = size_t(op_.n), k = size_t(op_.k);
  const Scales by = scales(in.a, in.b);
  std::vector<uint64_t> columns(in.b.size());
  for (size_t l = 0; l < k; ++l)
    for (size_t j = 0; j < n; ++j) columns[j * k + l] = in.b[l * n + j];
  const Integers a = integers(op_.a.fields(), in.a, by.a, op_.k), b = integers(op_.b.fields(), columns, by.b, op_.k);
  std::vector<std::vector<int>> residues;
  std::vector<Factors> factors;
  const size_t most = std::max<size_t>(1, dots_together / (m * n));  // products at once
  for (size_t at = 0, first = 0; at < moduli_.size(); ++at) {
    add_factors(a, b, at, factors);
    if (factors.size() < most && at + 1 < moduli_.size()) continue;
    const std::vector<std::vector<int64_t>> all = sums(factors);
    for (const std::vector<int64_t>* next = all.data(); first <= at; ++first) {
      residues.push_back(product_modulo(first, next));
      next += products_of_modulus(plan_.narrow, moduli_[first]);
    }
    factors.clear();
  }
  const FormatFields& d = op_.d.fields();
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      const size_t at = i * n + j;
      const Number addend = decode(op_.c.fields(), in.c[at]);
      bool all_zero = addend.cls == NumberClass::zero;
      for (size_t l = 0; l < k && all_zero; ++l)
        all_zero = is_zero(op_.a.fields(), in.a[i * k + l]) || is_zero(op_.b.fields(), columns[j * k + l]);
      // Residues hold no infinity, no NaN and no sign of a zero: these are the exact sum's.
      if (a.special[i] || b.special[j] || !is_finite(addend) || all_zero) {
        const std::vector<uint64_t> row(in.a.begin() + ptrdiff_t(i * k), in.a.begin() + ptrdiff_t((i + 1) * k)),
            column(columns.begin() + ptrdiff_t(j * k), columns.begin() + ptrdiff_t((j + 1) * k));
        results.set(index, int(at), exact_element(ExactBy::accumulator, op_, {row, column, in.c[at]}));
        continue;
      }
      const int undone = by.a[i] + (plan_.flaw == ResidueFlaw::late_scale ? by.a[i] : by.b[j]);
      const uint64_t product = reconstructed(residues, at, -undone);
      const Exact x = to_exact(decode(d, product)), y = to_exact(addend);
      results.set(index, int(at), add_exact(d, x, y, {}).encoding);
    }
}

bool ResidueGemm::within_bound(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b, uint64_t c,
                               const Scales& by, int row, int column, uint64_t result) const {
  const auto n = size_t(op_.n), k = size_t(op_.k);
  const int scale_a = by.a[size_t(row)], scale_b = by.b[size_t(column)];
  std::vector<uint64_t> of_a(k), of_b(k);
  Up cut, product;
  // What is cut off of a number: nothing of one that is an integer once it is scaled.
  const auto cut_of = [](const Number& x, int scale) {
    if (x.cls != NumberClass::finite || x.exponent + scale >= 0) return Up();
    const int drop = -(x.exponent + scale);
    const uint64_t lost = drop > 63 ? x.significand : x.significand & low_mask(drop);
    return Up::power(x.exponent, static_cast<long>(lost));
  };
  for (size_t l = 0; l < k; ++l) {
    of_a[l] = a[size_t(row) * k + l];
    of_b[l] = b[l * n + size_t(column)];
    const Number x = decode(op_.a.fields(), of_a[l]), y = decode(op_.b.fields(), of_b[l]);
    if (!is_finite(x) || !is_finite(y)) return true;
    const Up from_a = cut_of(x, scale_a), from_b = cut_of(y, scale_b), size_a = Up::magnitude(op_.a, of_a[l]),
             size_b = Up::magnitude(op_.b, of_b[l]);
    cut += from_a * size_b + size_a * from_b + from_a * from_b;
    product += size_a * size_b;
  }
  const FormatFields& d = op_.d.fields();
  const Up whole = product + cut, addend = Up::magnitude(op_.c, c), of_d = Up::power(-d.precision() + 1);
  Up rounding;
  if (plan_.sum != ResidueSum::exact) {
    // oracles/gemm/README.md, "Residues": the low halves, their sum, the product's two halves; three roundings of the
    // rest.
    const int undone = -(scale_a + scale_b), p = exponent_of(constants_->product) + 1;
    const long r = constants_->residues, n_moduli = static_cast<long>(moduli_.size());
    if (!in_pairs()) rounding += Up::power(p - 53 + undone, r * (n_moduli + 3));
    else rounding += Up::power(constants_->unit - 53 + undone, r * (n_moduli + 2)) + Up::power(p - 106 + undone, 4 * r);
    rounding += Up::power(-51) * whole + Up::power(-1074);
  }
  rounding += of_d * (whole + rounding) + Up::power(d.least_bit());
  rounding += of_d * (whole + addend + rounding) + Up::power(d.least_bit());
  if (exceeds_range(whole + addend + rounding, op_.d) || exceeds_range(whole, format("fp64"))) return true;
  exact::Mpfr value(element_precision), got(64);
  element_value(op_, {of_a, of_b, c}, value.get());
  exact::set_from_encoding(got.get(), op_.d, result);
  if (!mpfr_number_p(value.get())) return true;
  if (!mpfr_number_p(got.get())) return false;
  mpfr_sub(value.get(), got.get(), value.get(), MPFR_RNDA);
  const Up bound = cut + rounding;
  return mpfr_cmpabs(value.get(), bound.get()) <= 0;
}

const ResidueGemm* residues_of(const Unit& unit) { return dynamic_cast<const ResidueGemm*>(&unit); }

}  // namespace mmafuzz::gemm
