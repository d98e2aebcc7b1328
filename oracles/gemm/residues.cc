#include "oracles/gemm/residues.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <tuple>

#include "core/function_unit.h"
#include "oracles/exact/exact_gemm.h"
#include "oracles/gemm/gemm_case.h"
#include "oracles/gemm/residue_constants.h"
#include "oracles/gemm/s8_product.h"
#include "oracles/gemm/width.h"

namespace mmafuzz::gemm {
namespace {

constexpr size_t dots_together = 4096;  ///< in one call of the unit, which costs more than its dots
constexpr int base_of_digits = 16;      ///< of a modulus that is no square, 511 at most

int root_of(int modulus) {
  const auto root = static_cast<int>(std::lround(std::sqrt(modulus)));
  return root * root == modulus ? root : 0;
}

/// The high and the low digit: x = base * high + low, each of a magnitude of 16 at most. Of a modulus that is no square
/// the high one is rounded away from zero: the low one has the other sign, and their sum is 16 at most, too.
std::pair<int, int> digits_of(int x, int base, bool square) {
  const int up = square ? base / 2 : base - 1, high = (x < 0 ? x - up : x + up) / base;
  return {high, x - base * high};
}

void set(mpfr_ptr to, const cpp_int& from) { mpfr_set_str(to, from.str().c_str(), 10, MPFR_RNDN); }

/// The nearest fp64 number, ties to even.
double nearest_double(const cpp_int& x) {
  exact::Mpfr value(512);
  set(value.get(), x);
  return mpfr_get_d(value.get(), MPFR_RNDN);
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

int products_of_modulus(const Format& narrow) { return narrow.fields().integer ? 1 : 3; }

int greatest_residue_factor(const Format& narrow) { return narrow.fields().integer ? 128 : 16; }

int64_t exact_residue_products(const Op& dot, const Unit& unit) {
  const int64_t factor = greatest_residue_factor(dot.a);
  // s32 holds no 2^31; the sums of FP8 hold a power of two.
  return ((int64_t{1} << exact_integer_bits(dot, unit)) - (dot.d.fields().integer ? 1 : 0)) / (factor * factor);
}

Op residue_dot(const ResiduePlan& plan) {
  Op op;
  op.a = op.b = plan.narrow;
  op.c = op.d = format(plan.narrow.fields().integer ? "s32" : "fp32");
  op.k = plan.unit_k;
  return op;
}

ResidueGemm::ResidueGemm(const ResiduePlan& plan, std::unique_ptr<Unit> dot, const Op& op)
    : plan_(plan),
      dot_(std::move(dot)),
      dot_op_(residue_dot(plan)),
      op_(op),
      multiplies_here_(dot_->name() == "integer") {
  block_ =
      static_cast<int>(std::min<int64_t>(exact_residue_products(dot_op_, *dot_), plan.block ? plan.block : max_extent));
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
  // README.md, "Residues", "No overflow": how far the quotient may be from the multiple of P.
  cpp_int slack = 0;
  if (plan.sum != ResidueSum::exact) {
    const cpp_int all = c->product * c->residues;
    slack = (all >> 50) +
            (in_pairs() ? cpp_int(c->residues) << unsigned(std::max(c->unit, 0)) : all * (plan.moduli + 1) >> 51);
  }
  c->greatest = (c->product - 1) / 2 - slack;
  set(c->limit.get(), c->greatest);
  exact::Mpfr log(64);
  mpfr_log2(log.get(), c->limit.get(), MPFR_RNDN);
  c->limit_log = mpfr_get_d(log.get(), MPFR_RNDN);
  const FormatFields& f = plan.narrow.fields();
  for (int x = -256; x < 256; ++x) {
    const uint64_t code = f.integer ? static_cast<uint64_t>(int64_t{x})
                                    : round_once(f, x < 0, static_cast<uint64_t>(std::abs(x)), 0, false).encoding;
    c->codes.push_back(static_cast<uint8_t>(code));
  }
  constants_ = std::move(c);
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

std::vector<int64_t> ResidueGemm::host_sums(const Factors& factors) const {
  const auto m = size_t(op_.m), n = size_t(op_.n), k = size_t(op_.k), chain = size_t(block_);
  std::vector<int64_t> all(m * n, 0);
  std::vector<int32_t> sums(m * n);
  for (size_t from = 0; from < k; from += chain) {
    const size_t there = std::min(chain, k - from);
    std::vector<int8_t> a(m * there), b(n * there);
    const auto narrow = [&](const std::vector<int>& wide, std::vector<int8_t>& to) {
      for (size_t line = 0, at = 0; at < to.size(); ++line)
        for (size_t l = 0; l < there; ++l, ++at) to[at] = static_cast<int8_t>(wide[line * k + from + l]);
    };
    narrow(factors.a, a);
    narrow(factors.b, b);
    s8_product(m, n, there, a.data(), b.data(), sums.data());
    for (size_t at = 0; at < all.size(); ++at) all[at] += sums[at];
  }
  return all;
}

std::vector<std::vector<int64_t>> ResidueGemm::sums(const std::vector<Factors>& factors) const {
  if (multiplies_here_) {
    std::vector<std::vector<int64_t>> all;
    for (const Factors& one : factors) all.push_back(host_sums(one));
    return all;
  }
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
      all[i] = centred(x.significand[i], p);
      if (x.exponent[i] > 0) all[i] = centred(int64_t{all[i]} * powers[size_t(x.exponent[i])], p);
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
    for (size_t i = 0; i < all.size(); ++i) std::tie(high[i], all[i]) = digits_of(all[i], base, root != 0);
    return high;
  };
  std::vector<int> x1 = split(x), y1 = split(y);
  factors.push_back({x, y});
  if (root) {  // the high digits' product is a multiple of the modulus
    factors.push_back({x1, std::move(y)});
    factors.push_back({std::move(x), std::move(y1)});
    return;
  }
  factors.push_back({x1, y1});
  for (size_t i = 0; i < x.size(); ++i) x[i] += x1[i];
  for (size_t i = 0; i < y.size(); ++i) y[i] += y1[i];
  factors.push_back({std::move(x), std::move(y)});  // Karatsuba
}

std::vector<int> ResidueGemm::product_modulo(size_t at, const std::vector<int64_t>* sums) const {
  const int p = moduli_[at], root = root_of(p), base = root ? root : base_of_digits;
  std::vector<int> result(size_t(op_.m) * size_t(op_.n));
  if (plan_.flaw == ResidueFlaw::lost_modulus && at + 1 == moduli_.size()) return result;
  const bool of_s8 = plan_.narrow.fields().integer, all_digits = plan_.flaw != ResidueFlaw::digits_swapped;
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t sum = sums[0][i];
    if (!of_s8) {
      const int64_t low = all_digits ? sums[0][i] : 0;
      const int64_t middle = root ? sums[1][i] + sums[2][i] : sums[2][i] - sums[1][i] - low;
      sum = low % p + base * (middle % p) + (root ? 0 : base * base * (sums[1][i] % p));
    }
    result[i] = product_residue(sum, p, of_s8);
  }
  return result;
}

bool ResidueGemm::in_pairs() const {
  return plan_.sum == ResidueSum::fp64 && plan_.moduli > (plan_.narrow.fields().integer ? 6 : 5);
}

std::string ResidueGemm::greatest_integer() const { return constants_->greatest.str(); }

uint64_t ResidueGemm::reconstructed(const std::vector<int>& residues, int exponent) const {
  const Constants& c = *constants_;
  const FormatFields& d = op_.d.fields();
  if (plan_.sum == ResidueSum::exact) {
    cpp_int sum = 0;
    for (size_t i = 0; i < moduli_.size(); ++i) sum += c.weights[i] * residues[i];
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
    high = std::fma(weights[i], residues[i], high);
    if (pairs) low = std::fma(c.low[i], residues[i], low);
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

ResidueGemm::Stages ResidueGemm::stages(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) const {
  const auto m = size_t(op_.m), n = size_t(op_.n), k = size_t(op_.k);
  Stages s;
  s.by = scales(a, b);
  std::vector<uint64_t> columns(b.size());
  for (size_t l = 0; l < k; ++l)
    for (size_t j = 0; j < n; ++j) columns[j * k + l] = b[l * n + j];
  s.a = integers(op_.a.fields(), a, s.by.a, op_.k);
  s.b = integers(op_.b.fields(), columns, s.by.b, op_.k);
  std::vector<Factors> factors;
  const size_t most = std::max<size_t>(1, dots_together / (m * n));  // products at once
  for (size_t at = 0, first = 0; at < moduli_.size(); ++at) {
    add_factors(s.a, s.b, at, factors);
    if (factors.size() < most && at + 1 < moduli_.size()) continue;
    const std::vector<std::vector<int64_t>> all = sums(factors);
    for (const std::vector<int64_t>* next = all.data(); first <= at; ++first, next += products_of_modulus(plan_.narrow))
      s.residues.push_back(product_modulo(first, next));
    factors.clear();
  }
  return s;
}

void ResidueGemm::one_product(const Batch& batch, size_t index, Column& results) const {
  GemmCase in(op_);
  in.load(batch, index);
  const auto n = size_t(op_.n), k = size_t(op_.k);
  const Stages s = stages(in.a, in.b);
  const FormatFields& d = op_.d.fields();
  const Scalars scalars(op_);
  const auto is_number = [](const Exact& x) { return x.cls == NumberClass::finite || x.cls == NumberClass::zero; };
  const auto rounded = [&](const Exact& x, const Exact& y) {
    return to_exact(decode(d, add_exact(d, x, y, {}).encoding));
  };
  std::vector<int> residues(moduli_.size());
  std::vector<uint64_t> row(k), column(k);
  for (size_t at = 0; at < in.c.size(); ++at) {
    const size_t i = at / n, j = at % n;
    const Exact addend = to_exact(decode(op_.c.fields(), in.c[at]));
    bool may_be_all_zero = !scalars.reads_c() || addend.cls == NumberClass::zero;
    for (size_t p = 0; p < residues.size(); ++p) {
      residues[p] = s.residues[p][at];
      may_be_all_zero &= residues[p] == 0 || !scalars.reads_products();
    }
    // Residues hold no infinity, no NaN and no sign of a zero: these are the exact sum's.
    const bool special = ((s.a.special[i] || s.b.special[j]) && scalars.reads_products()) ||
                         (!is_number(addend) && scalars.reads_c()) || !is_number(scalars.alpha) ||
                         !is_number(scalars.beta);
    bool all_zero = may_be_all_zero;
    if (special || may_be_all_zero)
      for (size_t l = 0; l < k; ++l) {
        row[l] = in.a[i * k + l];
        column[l] = in.b[l * n + j];
        all_zero &= !scalars.reads_products() || is_zero(op_.a.fields(), row[l]) || is_zero(op_.b.fields(), column[l]);
      }
    if (special || all_zero) {
      results.set(index, int(at), exact_element(ExactBy::accumulator, op_, {row, column, in.c[at]}));
      continue;
    }
    const int undone = s.by.a[i] + (plan_.flaw == ResidueFlaw::late_scale ? s.by.a[i] : s.by.b[j]);
    Exact product, other;
    if (scalars.reads_products()) product = to_exact(decode(d, reconstructed(residues, -undone)));
    if (scalars.reads_c()) other = addend;
    if (op_.has_alpha_beta()) {  // each rounded, then their sum
      const Exact nothing;
      if (product.significand != 0) product = rounded(exact_product(scalars.alpha, product), nothing);
      if (scalars.reads_c()) other = rounded(exact_product(scalars.beta, addend), nothing);
    }
    results.set(index, int(at), add_exact(d, product, other, {}).encoding);
  }
}

const ResidueGemm* residues_of(const Unit& unit) { return dynamic_cast<const ResidueGemm*>(&unit); }

}  // namespace mmafuzz::gemm
