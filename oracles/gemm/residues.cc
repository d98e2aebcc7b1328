#include "oracles/gemm/residues.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <tuple>

#include "core/function_unit.h"
#include "oracles/exact/exact_gemm.h"
#include "oracles/gemm/gemm_case.h"
#include "oracles/gemm/residue_constants.h"
#include "oracles/gemm/residues_simd.h"
#include "oracles/gemm/s8_product.h"
#include "oracles/gemm/times_power.h"
#include "oracles/gemm/width.h"
#include "oracles/lanes/host_float.h"

namespace mmafuzz::gemm {
namespace {

constexpr size_t dots_together = 4096;  ///< in one call of the unit, as a call costs more than a dot
constexpr int base_of_digits = 16;      ///< where the modulus is no square; it is 511 at most then

/// The square root of a square; 0 for other moduli.
int root_of(int modulus) {
  const auto root = static_cast<int>(std::lround(std::sqrt(modulus)));
  return root * root == modulus ? root : 0;
}

/// The high and the low digit of a residue: x = base * high + low, each of a magnitude of at most 16. If the modulus is
/// no square, the high one is rounded away from zero, so that the low one has the other sign and the magnitude of their
/// sum is at most 16, too.
std::pair<int, int> digits_of(int x, int base, bool is_square) {
  const int away = is_square ? base / 2 : base - 1, high = (x < 0 ? x - away : x + away) / base;
  return {high, x - base * high};
}

/// The nearest fp64 number, ties to even.
double nearest_double(const cpp_int& x) {
  exact::Mpfr value(512);
  set(value.get(), x);
  return mpfr_get_d(value.get(), MPFR_RNDN);
}

/// The encoding of x in d, which is fp64 or fp32.
uint64_t encoded(const FormatFields& d, double x) {
  return d.width == 64 ? std::bit_cast<uint64_t>(x) : std::bit_cast<uint32_t>(static_cast<float>(x));
}
/// The sum of two encodings of d, which is fp64 or fp32. A sum of two fp32 numbers that is rounded to fp64 first is
/// rounded to the same fp32 number.
uint64_t host_sum(const FormatFields& d, uint64_t x, uint64_t y) {
  return encoded(d, host_value(d, x) + host_value(d, y));
}

}  // namespace

const std::vector<int>& residue_moduli(const Format& narrow) {
  // arXiv 2504.08009; arXiv 2603.10634: six squares of digits up to 16, then what two digits of base 16 hold.
  static const std::vector<int> of_s8 = {256, 255, 253, 251, 247, 241, 239, 233, 229, 227,
                                         223, 217, 211, 199, 197, 193, 191, 181, 179, 173},
                                of_e4m3 = {1089, 1024, 961, 841, 625, 529, 511, 509, 503, 499,
                                           491,  487,  481, 479, 467, 463, 461, 457, 449, 443};
  return narrow.fields().integer ? of_s8 : of_e4m3;
}

std::string reason_against_moduli(const std::vector<int>& moduli, const Format& narrow) {
  const bool of_s8 = narrow.fields().integer;
  if (moduli.size() < 2 || moduli.size() > 20) return "moduli= are 2 to 20 numbers";
  for (size_t i = 0; i < moduli.size(); ++i) {
    const int p = moduli[i];
    if (p < 2 || (of_s8 ? p > 256 : p > 511 && (root_of(p) == 0 || p > 1089)))
      return "moduli= has " + std::to_string(p) + ": " + narrow.name() + " holds residues modulo 2 to " +
             (of_s8 ? "256" : "511 and squares up to 1089");
    for (size_t j = 0; j < i; ++j)
      if (std::gcd(p, moduli[j]) > 1)
        return "moduli= has " + std::to_string(moduli[j]) + " and " + std::to_string(p) +
               ", which are both divisible by " + std::to_string(std::gcd(p, moduli[j]));
  }
  return "";
}

int products_of_modulus(const Format& narrow) { return narrow.fields().integer ? 1 : 3; }

int greatest_residue_factor(const Format& narrow) { return narrow.fields().integer ? 128 : 16; }

int64_t exact_residue_products(const Op& dot, const Unit& unit) {
  const int64_t factor = greatest_residue_factor(dot.a);
  // s32 holds no 2^31; the sums of FP8 hold a power of two.
  return ((int64_t{1} << exact_integer_bits(dot, unit)) - (dot.d.fields().integer ? 1 : 0)) / (factor * factor);
}

Op residue_dot(const ResiduePlan& plan) {
  const char* const sum = plan.narrow.fields().integer ? "s32" : "fp32";
  return dot_op(plan.narrow.name(), sum, sum, plan.unit_k);
}

ResidueGemm::ResidueGemm(const ResiduePlan& plan, std::unique_ptr<Unit> dot, const Op& op)
    : plan_(plan),
      dot_(std::move(dot)),
      dot_op_(residue_dot(plan)),
      op_(op),
      multiplies_here_(dot_->name() == "integer") {
  exact_products_ =
      static_cast<int>(std::min<int64_t>(exact_residue_products(dot_op_, *dot_), plan.block ? plan.block : max_extent));
  moduli_ = plan.own_moduli;
  if (moduli_.empty())
    moduli_.assign(residue_moduli(plan.narrow).begin(), residue_moduli(plan.narrow).begin() + plan.moduli);

  auto c = std::make_shared<Constants>();
  c->product = 1;
  for (const int p : moduli_) c->product *= p;
  for (const int p : moduli_) {
    const cpp_int others = c->product / p;
    int inverse = 1;
    while (others * inverse % p != 1) ++inverse;
    c->weights.push_back(others * inverse);
    c->sum_of_halves += p / 2;
  }
  // The high halves have as many bits, counted from the greatest weight's leading one, as keep their sum exact.
  const int bits = 53 - std::bit_width(static_cast<unsigned>(c->sum_of_halves - 1));
  c->last_bit = exponent_of(*std::max_element(c->weights.begin(), c->weights.end())) + 1 - bits;
  for (const cpp_int& weight : c->weights) {
    const cpp_int high = c->last_bit > 0 ? cpp_int(weight >> unsigned(c->last_bit) << unsigned(c->last_bit)) : weight;
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
  cpp_int slack = 0;  // what (P - 1) / 2 is lessened by for the errors of the quotient and of the sum
  if (plan.sum != ResidueSum::exact) {
    // README.md, "No overflow": R P 2^-50, and R u or R P (N + 1) 2^-51.
    const cpp_int greatest_sum = c->product * c->sum_of_halves;
    slack = (greatest_sum >> 50) + (uses_pairs() ? cpp_int(c->sum_of_halves) << unsigned(std::max(c->last_bit, 0))
                                                 : greatest_sum * (plan.moduli + 1) >> 51);
  }
  c->greatest = (c->product - 1) / 2 - slack;
  set(c->greatest_in_mpfr.get(), c->greatest);
  exact::Mpfr log(64);
  mpfr_log2(log.get(), c->greatest_in_mpfr.get(), MPFR_RNDN);
  c->log_of_greatest = mpfr_get_d(log.get(), MPFR_RNDN);
  const FormatFields& f = plan.narrow.fields();
  for (int x = -256; x < 256; ++x) {
    const uint64_t code = f.integer ? static_cast<uint64_t>(int64_t{x})
                                    : round_once(f, x < 0, static_cast<uint64_t>(std::abs(x)), 0).encoding;
    c->codes.push_back(static_cast<uint8_t>(code));
  }
  constants_ = std::move(c);
}

namespace {

/// The `count` rows of a matrix of fp64 or fp32 numbers, whose encodings are row-major.
ResidueGemm::Lines lines_of(const FormatFields& f, const std::vector<uint64_t>& codes, size_t count) {
  ResidueGemm::Lines x{count, codes.size() / count, std::vector<double>(codes.size()), std::vector<uint8_t>(count, 0)};
  for (size_t i = 0; i < codes.size(); ++i) {
    const double number = host_value(f, codes[i]);
    if (std::isfinite(number)) x.number[i] = number;
    else x.special[i / x.length] = 1;
  }
  return x;
}

/// The lines' numbers times 2^(the line's scale), truncated to integers.
ResidueGemm::Lines integers(const ResidueGemm::Lines& x, const std::vector<int>& scales) {
  ResidueGemm::Lines scaled{x.count, x.length, std::vector<double>(x.number.size()), x.special};
  for (size_t line = 0; line < x.count; ++line)
    integers_of(x.numbers_of(line), x.length, scales[line], scaled.number.data() + line * x.length);
  return scaled;
}

}  // namespace

ResidueGemm::Lines ResidueGemm::rows_of(const std::vector<uint64_t>& a) const {
  return lines_of(op_.a.fields(), a, size_t(op_.m));
}
ResidueGemm::Lines ResidueGemm::columns_of(const std::vector<uint64_t>& b) const {
  return lines_of(op_.b.fields(), transposed(b, op_.n), size_t(op_.n));
}

std::vector<int64_t> ResidueGemm::host_sums(const Factors& factors) const {
  const auto m = size_t(op_.m), n = size_t(op_.n), k = size_t(op_.k), chain = size_t(exact_products_);
  std::vector<int64_t> totals(m * n, 0);
  std::vector<int32_t> sums(m * n);
  for (size_t first = 0; first < k; first += chain) {
    const size_t length = std::min(chain, k - first);
    const auto in_s8 = [&](const std::vector<int>& residues, size_t lines) {
      std::vector<int8_t> narrow(lines * length);
      for (size_t line = 0, at = 0; line < lines; ++line)
        for (size_t l = 0; l < length; ++l, ++at) narrow[at] = static_cast<int8_t>(residues[line * k + first + l]);
      return narrow;
    };
    s8_product(m, n, length, in_s8(factors.a, m).data(), in_s8(factors.b, n).data(), sums.data());
    for (size_t i = 0; i < totals.size(); ++i) totals[i] += sums[i];
  }
  return totals;
}

std::vector<std::vector<int64_t>> ResidueGemm::sums(const std::vector<Factors>& factors) const {
  if (multiplies_here_) {
    std::vector<std::vector<int64_t>> totals;
    for (const Factors& product : factors) totals.push_back(host_sums(product));
    return totals;
  }
  const auto m = size_t(op_.m), n = size_t(op_.n), k = size_t(op_.k), unit_k = size_t(plan_.unit_k);
  const bool integer = plan_.narrow.fields().integer;
  const uint8_t* codes = constants_->codes.data() + 256;
  std::vector<std::vector<int64_t>> totals(factors.size(), std::vector<int64_t>(m * n, 0));
  Batch dots(dot_op_, factors.size() * m * n);
  const size_t bytes = 4 * factors.size() * m * n;  // of c and of the results
  Outcomes outcomes;
  const size_t chain = size_t(exact_products_) / unit_k * unit_k;
  for (size_t first = 0; first < k; first += unit_k) {
    if (first % chain == 0) std::memset(dots.inputs()[2].data(), 0, bytes);
    const size_t length = std::min(unit_k, k - first);
    uint8_t *to_a = dots.inputs()[0].data(), *to_b = dots.inputs()[1].data();  // a byte holds an encoding
    if (length < unit_k) {
      std::memset(to_a, 0, dots.size() * unit_k);
      std::memset(to_b, 0, dots.size() * unit_k);
    }
    for (const Factors& product : factors)
      for (size_t i = 0; i < m; ++i)
        for (size_t j = 0; j < n; ++j, to_a += unit_k, to_b += unit_k)
          for (size_t l = 0; l < length; ++l) {
            to_a[l] = codes[product.a[i * k + first + l]];
            to_b[l] = codes[product.b[j * k + first + l]];
          }
    dot_->run(dots, outcomes);
    const bool chains_end = (first + unit_k) % chain == 0 || first + unit_k >= k;
    for (size_t dot = 0; chains_end && dot < dots.size(); ++dot) {
      const auto bits = static_cast<uint32_t>(outcomes.results.get(dot));
      totals[dot / (m * n)][dot % (m * n)] +=
          integer ? int64_t{static_cast<int32_t>(bits)} : static_cast<int64_t>(std::bit_cast<float>(bits));
    }
    std::memcpy(dots.inputs()[2].data(), outcomes.results.data(), bytes);
  }
  return totals;
}

std::vector<int> ResidueGemm::residues(const Lines& integers, size_t modulus_index) const {
  const int p = moduli_[modulus_index];
  std::vector<int> result(integers.number.size());
  centred_residues(integers.number.data(), result.size(), p, result.data());
  const int next_p = moduli_[(modulus_index + 1) % moduli_.size()];
  for (size_t i = 0; i < result.size() && plan_.flaw == ResidueFlaw::wrong_power; ++i) {
    const double x = integers.number[i];
    if (x == 0) continue;
    // x is an odd number times 2^last_bit. The odd one is taken modulo p, the power modulo the next modulus.
    const int last_bit = std::ilogb(x) - 52 + std::countr_zero(std::bit_cast<uint64_t>(x) | uint64_t{1} << 52);
    int power = 1;
    for (int bit = 0; bit < last_bit; ++bit) power = 2 * power % next_p;
    result[i] = centred(int64_t{centred(static_cast<int64_t>(std::ldexp(x, -last_bit)), p)} * power, p);
  }
  for (size_t i = 0; i < result.size() && plan_.flaw == ResidueFlaw::unsigned_residue; ++i)
    if (2 * result[i] == -p) result[i] = p / 2 - 1;
  return result;
}

void ResidueGemm::add_factors(const Lines& a, const Lines& b, size_t modulus_index,
                              std::vector<Factors>& factors) const {
  std::vector<int> low_a = residues(a, modulus_index), low_b = residues(b, modulus_index);
  if (plan_.narrow.fields().integer) {
    factors.push_back({std::move(low_a), std::move(low_b)});
    return;
  }
  const int root = root_of(moduli_[modulus_index]), base = root ? root : base_of_digits;
  const auto split = [&](std::vector<int>& x) {  // returns the high digits, leaves the low ones in x
    std::vector<int> high(x.size());
    for (size_t i = 0; i < x.size(); ++i) std::tie(high[i], x[i]) = digits_of(x[i], base, root != 0);
    return high;
  };
  std::vector<int> high_a = split(low_a), high_b = split(low_b);
  factors.push_back({low_a, low_b});
  if (root) {  // the high digits' product is a multiple of the modulus
    factors.push_back({std::move(high_a), std::move(low_b)});
    factors.push_back({std::move(low_a), std::move(high_b)});
    return;
  }
  factors.push_back({high_a, high_b});
  for (size_t i = 0; i < low_a.size(); ++i) low_a[i] += high_a[i];
  for (size_t i = 0; i < low_b.size(); ++i) low_b[i] += high_b[i];
  factors.push_back({std::move(low_a), std::move(low_b)});  // Karatsuba: the products of unlike digits follow from it
}

std::vector<int> ResidueGemm::product_modulo(size_t modulus_index, const std::vector<int64_t>* sums) const {
  const int p = moduli_[modulus_index], root = root_of(p), base = root ? root : base_of_digits;
  std::vector<int> result(size_t(op_.m) * size_t(op_.n));
  if (plan_.flaw == ResidueFlaw::lost_modulus && modulus_index + 1 == moduli_.size()) return result;
  if (plan_.narrow.fields().integer) {  // fp64 holds the sums: 65536 products of 2^14 are below 2^48
    const std::vector<double> whole(sums[0].begin(), sums[0].end());
    centred_residues(whole.data(), whole.size(), p, result.data());
    return result;
  }
  for (size_t i = 0; i < result.size(); ++i) {  // in the order of add_factors()
    const int64_t low = plan_.flaw == ResidueFlaw::digits_swapped ? 0 : sums[0][i];
    const int64_t middle = root ? sums[1][i] + sums[2][i] : sums[2][i] - sums[1][i] - low;
    const int64_t sum = low % p + base * (middle % p) + (root ? 0 : base * base * (sums[1][i] % p));
    result[i] = product_residue(sum, p, plan_.narrow);
  }
  return result;
}

bool ResidueGemm::uses_pairs() const {
  return plan_.sum == ResidueSum::fp64 && plan_.moduli > (plan_.narrow.fields().integer ? 6 : 5);
}

std::string ResidueGemm::greatest_integer() const { return constants_->greatest.str(); }

std::vector<double> ResidueGemm::weighted(const Residues& residues, size_t count) const {
  const Constants& c = *constants_;
  const bool pairs = uses_pairs();
  std::vector<const int*> by_modulus;
  for (const std::vector<int>& of_modulus : residues) by_modulus.push_back(of_modulus.data());
  std::vector<double> numbers(count);
  weighted_sums({moduli_.size(), pairs ? c.high.data() : c.whole.data(), pairs ? c.low.data() : nullptr, c.inverse,
                 c.product_high, c.product_low, plan_.flaw == ResidueFlaw::truncated_quotient},
                by_modulus.data(), count, numbers.data());
  return numbers;
}

uint64_t ResidueGemm::exactly_reconstructed(const Residues& residues, size_t element, int exponent) const {
  const Constants& c = *constants_;
  const FormatFields& d = op_.d.fields();
  cpp_int sum = 0;
  for (size_t i = 0; i < moduli_.size(); ++i) sum += c.weights[i] * residues[i][element];
  sum %= c.product;
  if (plan_.flaw != ResidueFlaw::truncated_quotient) {
    if (2 * sum > c.product) sum -= c.product;
    if (2 * sum < -c.product) sum += c.product;
  }
  const cpp_int magnitude = abs(sum);
  if (magnitude == 0) return d.encode_zero(false);
  const int drop = std::max(0, exponent_of(magnitude) - 61);
  const cpp_int kept = magnitude >> unsigned(drop);
  const bool sticky = (kept << unsigned(drop)) != magnitude;
  // One more bit, the last one, is set if any dropped bit was, for the rounding.
  return round_once(d, sum < 0, static_cast<uint64_t>(kept) << 1 | (sticky ? 1 : 0), drop - 1 + exponent).encoding;
}

uint64_t ResidueGemm::reconstructed(const std::vector<int>& residues) const {
  const DefaultFloatEnvironment environment;
  Residues by_modulus;
  for (const int residue : residues) by_modulus.push_back({residue});
  if (plan_.sum == ResidueSum::exact) return exactly_reconstructed(by_modulus, /*element=*/0, /*exponent=*/0);
  return encoded(op_.d.fields(), weighted(by_modulus, 1)[0]);
}

void ResidueGemm::run(const Batch& batch, Outcomes& outcomes) const {
  const DefaultFloatEnvironment environment;
  prepare(batch, outcomes);
  for (size_t i = 0; i < batch.size(); ++i) multiply(batch, i, outcomes.results);
}

ResidueGemm::Stages ResidueGemm::stages(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) const {
  const auto m = size_t(op_.m), n = size_t(op_.n);
  const Lines x = rows_of(a), y = columns_of(b);
  Stages s;
  s.scales = scales(x, y);
  s.a = integers(x, s.scales.a);
  s.b = integers(y, s.scales.b);
  std::vector<Factors> factors;
  const size_t products_together = std::max<size_t>(1, dots_together / (m * n));  // in a call of the unit, about
  for (size_t p = 0; p < moduli_.size(); ++p) {
    add_factors(s.a, s.b, p, factors);
    if (factors.size() < products_together && p + 1 < moduli_.size()) continue;
    const std::vector<std::vector<int64_t>> all_sums = sums(factors);
    for (size_t product = 0; product < all_sums.size(); product += size_t(products_of_modulus(plan_.narrow)))
      s.residues.push_back(product_modulo(s.residues.size(), &all_sums[product]));
    factors.clear();
  }
  return s;
}

void ResidueGemm::multiply(const Batch& batch, size_t index, Column& results) const {
  GemmCase matrices(op_);
  matrices.load(batch, index);
  const auto n = size_t(op_.n), k = size_t(op_.k);
  const Stages s = stages(matrices.a, matrices.b);
  const FormatFields& d = op_.d.fields();
  const Scalars scalars(op_);
  const auto rounded = [&](const Exact& x) { return to_exact(decode(d, add_exact(d, x, Exact(), {}).encoding)); };
  const bool is_exact = plan_.sum == ResidueSum::exact;
  const std::vector<double> integers = is_exact ? std::vector<double>() : weighted(s.residues, matrices.c.size());
  Element operands;
  for (size_t element = 0; element < matrices.c.size(); ++element) {
    const size_t i = element / n, j = element % n;
    const Exact addend = to_exact(decode(op_.c.fields(), matrices.c[element]));
    bool all_zero = !scalars.reads_c() || addend.cls == NumberClass::zero;  // every term: first by the residues
    for (size_t p = 0; p < s.residues.size() && all_zero; ++p)
      all_zero = s.residues[p][element] == 0 || !scalars.reads_products();
    // Residues have no infinity, no NaN and no sign of a zero: such results are taken from the exact sum.
    const bool special = scalars.meets_special(s.a.special[i] || s.b.special[j], addend);
    if (special || all_zero) operands.load(op_, matrices, element);
    for (size_t l = 0; l < k && all_zero; ++l)
      all_zero =
          !scalars.reads_products() || is_zero(op_.a.fields(), operands.a[l]) || is_zero(op_.b.fields(), operands.b[l]);
    if (special || all_zero) {
      results.set(index, int(element), exact_element(ExactBy::accumulator, op_, operands));
      continue;
    }
    const int scale = s.scales.a[i] + (plan_.flaw == ResidueFlaw::late_scale ? s.scales.a[i] : s.scales.b[j]);
    uint64_t product_code = d.encode_zero(false);
    if (scalars.reads_products())
      product_code = is_exact ? exactly_reconstructed(s.residues, element, -scale)
                              : encoded(d, times_power(integers[element], -scale));
    if (!op_.has_alpha_beta()) {
      results.set(index, int(element), host_sum(d, product_code, matrices.c[element]));
      continue;
    }
    Exact product = to_exact(decode(d, product_code)), scaled_addend;
    // Both products are rounded, then their sum.
    if (product.significand != 0) product = rounded(exact_product(scalars.alpha, product));
    if (scalars.reads_c()) scaled_addend = rounded(exact_product(scalars.beta, addend));
    results.set(index, int(element), add_exact(d, product, scaled_addend, {}).encoding);
  }
}

const ResidueGemm* residues_of(const Unit& unit) { return dynamic_cast<const ResidueGemm*>(&unit); }

}  // namespace mmafuzz::gemm
