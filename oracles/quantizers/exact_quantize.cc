#include "oracles/quantizers/exact_quantize.h"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>

#include "core/function_unit.h"
#include "oracles/exact/mpfr_reference.h"

namespace mmafuzz::exact {
namespace {

using boost::multiprecision::cpp_int;

/// A magnitude: numerator / denominator, not in lowest terms.
struct Ratio {
  cpp_int numerator = 0, denominator = 1;

  bool is_zero() const { return numerator == 0; }
  friend Ratio operator*(const Ratio& x, const Ratio& y) {
    return {x.numerator * y.numerator, x.denominator * y.denominator};
  }
  friend Ratio operator/(const Ratio& x, const Ratio& y) {
    return {x.numerator * y.denominator, x.denominator * y.numerator};
  }
  friend Ratio operator+(const Ratio& x, const Ratio& y) {
    return {x.numerator * y.denominator + y.numerator * x.denominator, x.denominator * y.denominator};
  }
  friend int compare(const Ratio& x, const Ratio& y) {
    const cpp_int a = x.numerator * y.denominator, b = y.numerator * x.denominator;
    return a < b ? -1 : a > b ? 1 : 0;
  }
};

Ratio power_of_two(int e) {
  Ratio r{1, 1};
  (e < 0 ? r.denominator : r.numerator) <<= std::abs(e);
  return r;
}

Ratio magnitude(const Number& n) { return Ratio{n.significand, 1} * power_of_two(n.exponent); }

/// The greatest e with 2^e <= x, which is positive.
int floor_log2(const Ratio& x) {
  int e = static_cast<int>(msb(x.numerator)) - static_cast<int>(msb(x.denominator));
  while (compare(power_of_two(e), x) > 0) --e;
  while (compare(power_of_two(e + 1), x) <= 0) ++e;
  return e;
}
/// The least e with x <= 2^e.
int ceil_log2(const Ratio& x) {
  const int e = floor_log2(x);
  return compare(power_of_two(e), x) == 0 ? e : e + 1;
}

/// The nonnegative finite numbers of a format in ascending order, each with its encoding.
struct Numbers {
  struct Entry {
    Ratio value;
    uint64_t encoding;
  };
  std::vector<Entry> entries;
  int fraction_bits;

  explicit Numbers(const FormatFields& f) : fraction_bits(f.fraction_bits) {
    const uint64_t codes = uint64_t{1} << (f.width - (f.has_sign() ? 1 : 0));
    // OCP MX 1.0, 5.3.4: the elements of MXINT8 are integers times 2^-6.
    const Ratio unit = f.integer ? power_of_two(-(f.width - 2)) : Ratio{1, 1};
    for (uint64_t code = 0; code < codes; ++code) {
      const Number n = decode(f, code);
      if (n.cls != NumberClass::finite && n.cls != NumberClass::zero) continue;
      entries.push_back({magnitude(n) * unit, code});
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& x, const Entry& y) { return compare(x.value, y.value) < 0; });
    // Encodings that differ in ignored bits stand for one number.
    const auto same = [](const Entry& x, const Entry& y) { return compare(x.value, y.value) == 0; };
    entries.erase(std::unique(entries.begin(), entries.end(), same), entries.end());
  }
  const Entry& greatest() const { return entries.back(); }
  /// The index in `entries` of the greatest number that is not above x; -1 where all are above.
  ptrdiff_t at_most(const Ratio& x) const {
    const auto above = std::upper_bound(entries.begin(), entries.end(), x,
                                        [](const Ratio& y, const Entry& e) { return compare(y, e.value) < 0; });
    return above - entries.begin() - 1;
  }
  /// The encoding of x rounded in the rule's mode; below the least number it is that one, and above the greatest one
  /// that, under overflow=saturate. Otherwise nullopt where x overflows (IEEE 754-2019, 7.4): its rounding with an
  /// unbounded exponent is above the greatest number, in a mode that does not return to that.
  std::optional<uint64_t> rounded(const Ratio& x, bool negative, const RoundingRule& rule) const {
    const ptrdiff_t below = at_most(x);
    if (below < 0) return entries.front().encoding;
    if (rule.overflow != Overflow::saturate && static_cast<size_t>(below) + 1 == entries.size()) {
      const Ratio step = power_of_two(floor_log2(greatest().value) - fraction_bits);
      const Entry beyond{greatest().value + step, greatest().encoding + 1};  // the number that would follow
      const bool stays = rule.rounding == Rounding::toward_zero || rule.rounding == Rounding::odd ||
                         (rule.rounding == Rounding::up && negative) || (rule.rounding == Rounding::down && !negative);
      if (stays || compare(x, greatest().value) == 0) return greatest().encoding;
      if (compare(x, beyond.value) >= 0 || takes_upper(x, greatest(), beyond, negative, rule)) return std::nullopt;
      return greatest().encoding;
    }
    const Entry& low = entries[static_cast<size_t>(below)];
    if (static_cast<size_t>(below) + 1 == entries.size() || compare(low.value, x) == 0) return low.encoding;
    const Entry& high = entries[static_cast<size_t>(below) + 1];
    return takes_upper(x, low, high, negative, rule) ? high.encoding : low.encoding;
  }

 private:
  /// Whether x, between the neighbours low and high, is rounded to high. All three are magnitudes.
  static bool takes_upper(const Ratio& x, const Entry& low, const Entry& high, bool negative,
                          const RoundingRule& rule) {
    const int half = compare(x + x, low.value + high.value);
    switch (rule.rounding) {
      case Rounding::nearest_even: return half > 0 || (half == 0 && high.encoding % 2 == 0);
      case Rounding::nearest_away: return half >= 0;
      case Rounding::toward_zero: return false;
      case Rounding::up: return !negative;
      case Rounding::down: return negative;
      case Rounding::odd: return high.encoding % 2 == 1;
      case Rounding::stochastic: break;
    }
    // To high if random < T, where T is (x - low) / (high - low) * 2^bits, made an integer by the threshold rule.
    const cpp_int above = x.numerator * low.value.denominator - low.value.numerator * x.denominator;
    const cpp_int gap = high.value.numerator * low.value.denominator - low.value.numerator * high.value.denominator;
    const Ratio scaled = Ratio{above, x.denominator * low.value.denominator} /
                         Ratio{gap, high.value.denominator * low.value.denominator} * power_of_two(rule.random_bits);
    const cpp_int whole = scaled.numerator / scaled.denominator, rest = scaled.numerator % scaled.denominator;
    const bool rounds_up = rule.threshold == Threshold::ceiling   ? rest != 0
                           : rule.threshold == Threshold::nearest ? 2 * rest >= scaled.denominator
                                                                  : false;
    return rule.random < whole + (rounds_up ? 1 : 0);
  }
};

/// amax rounded to so many bits of fraction, halves up: rule=even takes floor(log2) of that.
Ratio rounded_to_fraction(const Ratio& amax, int fraction_bits) {
  const Ratio unit = power_of_two(floor_log2(amax) - fraction_bits);
  const Ratio steps = amax / unit + Ratio{1, 2};
  return Ratio{steps.numerator / steps.denominator, 1} * unit;
}

class Quantizer final : public Unit {
 public:
  explicit Quantizer(const Op& op) : op_(op), elements_(op.d.fields()) {
    emax_ = floor_log2(elements_.greatest().value);
    const FormatFields& d = op.d.fields();
    fraction_bits_ = d.integer ? d.width - 2 : d.fraction_bits;
  }

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    for (size_t i = 0; i < batch.size(); ++i) quantize(batch, i, outcomes.results);
  }

 private:
  void quantize(const Batch& batch, size_t index, Column& results) const {
    const FormatFields& wide = op_.a.fields();
    std::vector<Number> block;
    Ratio amax{0, 1};
    uint64_t amax_code = 0;  // perhaps with a sign
    bool has_special = false;
    for (int i = 0; i < op_.k; ++i) {
      block.push_back(decode(wide, batch.inputs()[0].get(index, i)));
      const Number& x = block.back();
      has_special = has_special || x.cls == NumberClass::infinity || x.cls == NumberClass::nan;
      if (x.cls != NumberClass::finite || compare(amax, magnitude(x)) >= 0) continue;
      amax = magnitude(x);
      amax_code = batch.inputs()[0].get(index, i);
    }
    Ratio tensor{1, 1};
    uint64_t tensor_code = 0;
    bool has_scale = !(has_special && op_.block_specials == BlockSpecials::nan_scale);
    if (op_.has_tensor_scale()) {
      tensor_code = batch.inputs()[1].get(index);
      const Number t = decode(op_.scale_b.fields(), tensor_code);
      if (t.cls == NumberClass::finite && !t.negative) tensor = magnitude(t);
      else has_scale = false;
    }
    const std::optional<uint64_t> code = has_scale ? scale_of(amax, amax_code, tensor_code) : std::nullopt;
    const FormatFields& s = op_.scale_a.fields();
    const uint64_t scale_code = code ? *code : s.has_nan() ? s.encode_nan() : s.encode_greatest(false);
    results.set(index, 0, scale_code);
    if (!has_scale || (!code && s.has_nan())) {
      for (int i = 0; i < op_.k; ++i) results.set(index, 1 + i, 0);
      return;
    }
    const Ratio scale = magnitude(decode(s, scale_code)) * tensor;
    for (int i = 0; i < op_.k; ++i)
      results.set(index, 1 + i,
                  element(block[static_cast<size_t>(i)], scale, op_.rounding_rule_of(batch.inputs()[0].get(index, i))));
  }

  /// The scale's encoding; nullopt where it is NaN. `code`: of amax, with either sign. `tensor`: of the tensor's scale.
  std::optional<uint64_t> scale_of(Ratio amax, uint64_t code, uint64_t tensor) const {
    const FormatFields& s = op_.scale_a.fields();
    const bool has_detour = op_.via.fields().width != 0 && !amax.is_zero();
    Mpfr x(256);
    set_from_encoding(x.get(), op_.a, code);
    mpfr_abs(x.get(), x.get(), MPFR_RNDN);
    if (has_detour) {
      const uint64_t rounded = round_mpfr(op_.via, x.get(), {}).encoding;
      const Number n = decode(op_.via.fields(), rounded);
      if (n.cls == NumberClass::infinity) return std::nullopt;
      amax = n.cls == NumberClass::zero ? Ratio{0, 1} : magnitude(n);
      set_from_encoding(x.get(), op_.via, rounded);
    }
    if (s.fraction_bits > 0) {
      if (amax.is_zero()) return 0;
      Mpfr divisor(256), factor(64);
      const FormatFields& d = op_.d.fields();
      set_from_encoding(divisor.get(), op_.d, d.integer ? elements_.greatest().encoding : d.encode_greatest(false));
      if (d.integer) mpfr_mul_2si(divisor.get(), divisor.get(), 2 - d.width, MPFR_RNDN);
      if (op_.has_tensor_scale()) {
        set_from_encoding(factor.get(), op_.scale_b, tensor);
        must_be_exact(mpfr_mul(divisor.get(), divisor.get(), factor.get(), MPFR_RNDN));
      }
      RoundingRule rule;
      rule.rounding = op_.scale_rule == ScaleRule::rceil ? Rounding::up : Rounding::nearest_even;
      rule.overflow = Overflow::saturate;
      const bool truncated = mpfr_div(x.get(), x.get(), divisor.get(), MPFR_RNDZ) != 0;
      return round_mpfr(op_.scale_a, x.get(), rule, truncated).encoding;
    }
    // A bias b of CFloat is 2^-b, b of 0 to 63.
    const int least = s.shared_bias ? -63 : s.emin(), most = s.shared_bias ? 0 : s.emax();
    const int exponent =
        amax.is_zero() ? least : std::clamp(exponent_of(amax, elements_.greatest().value), least, most);
    return static_cast<uint64_t>(s.shared_bias ? -exponent : exponent + s.bias);
  }

  /// The exponent of the power of two that the rule's text names.
  int exponent_of(const Ratio& amax, const Ratio& greatest) const {
    switch (op_.scale_rule) {
      case ScaleRule::floor: return floor_log2(amax) - emax_;
      case ScaleRule::ceil: return ceil_log2(amax) - emax_;
      case ScaleRule::even: return floor_log2(rounded_to_fraction(amax, fraction_bits_)) - emax_;
      case ScaleRule::threshold: {
        const int e = floor_log2(amax);
        const bool up = compare(amax, Ratio{7, 4} * power_of_two(e)) >= 0;
        return e + (up ? 1 : 0) - emax_;
      }
      case ScaleRule::rceil: return ceil_log2(amax / greatest);
      case ScaleRule::nearest_log2: {  // log2 q - floor >= 1/2, that is q^2 >= 2^(2 floor + 1)
        const Ratio q = amax / greatest;
        const int e = floor_log2(q);
        return compare(q * q, power_of_two(2 * e + 1)) >= 0 ? e + 1 : e;
      }
      case ScaleRule::nearest: {
        const Ratio q = amax / greatest;
        const int e = floor_log2(q);
        const int half = compare(q, Ratio{3, 2} * power_of_two(e));
        const bool low_is_odd = (e + op_.scale_a.fields().bias) % 2 != 0;
        return half > 0 || (half == 0 && low_is_odd) ? e + 1 : e;
      }
    }
    return 0;
  }

  uint64_t element(const Number& x, const Ratio& scale, const RoundingRule& rule) const {
    const FormatFields& d = op_.d.fields();
    const uint64_t sign = d.integer ? 0 : d.in_container(d.sign_bit());
    if (x.cls == NumberClass::nan) return d.integer ? 0 : d.has_nan() ? d.encode_nan() : nan_as_number(d, x.negative);
    const bool is_infinite = x.cls == NumberClass::infinity;
    const bool is_zero = x.cls == NumberClass::zero || (!is_infinite && scale.is_zero());
    std::optional<uint64_t> rounded;
    if (is_zero) rounded = elements_.entries.front().encoding;
    else if (!is_infinite) rounded = elements_.rounded(magnitude(x) / scale, x.negative, rule);
    else if (!op_.elements_overflow) rounded = elements_.greatest().encoding;
    if (!rounded) {
      if (d.has_infinity()) return d.encode_infinity(x.negative);
      // OCP OFP8, 5.2.2: the NaN of E4M3 has the sign of what overflowed; other formats have one NaN.
      return d.encode_nan() | (d.specials == Specials::fn && x.negative ? sign : 0);
    }
    const uint64_t code = *rounded;
    if (!x.negative) return code;
    if (d.integer) return (~code + 1) & d.container_mask();
    return code == elements_.entries.front().encoding && !d.has_negative_zero() ? code : code | sign;
  }
  static uint64_t nan_as_number(const FormatFields& d, bool negative) {
    return d.encode_greatest(negative && d.has(policy::nan_signed));
  }

  Op op_;
  Numbers elements_;
  int emax_ = 0, fraction_bits_ = 0;
};

class Dequantizer final : public Unit {
 public:
  explicit Dequantizer(const Op& op) : op_(op) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    Mpfr scale(256), x(256);
    for (size_t i = 0; i < batch.size(); ++i) {
      set_from_encoding(scale.get(), op_.scale_a, batch.inputs()[1].get(i));
      if (op_.has_tensor_scale()) {
        set_from_encoding(x.get(), op_.scale_b, batch.inputs()[2].get(i));
        must_be_exact(mpfr_mul(scale.get(), scale.get(), x.get(), MPFR_RNDN));
      }
      for (int e = 0; e < op_.k; ++e) {
        set_from_encoding(x.get(), op_.a, batch.inputs()[0].get(i, e));
        if (op_.a.fields().integer) mpfr_mul_2si(x.get(), x.get(), 2 - op_.a.fields().width, MPFR_RNDN);
        must_be_exact(mpfr_mul(x.get(), x.get(), scale.get(), MPFR_RNDN));
        outcomes.results.set(i, e, round_mpfr(op_.d, x.get(), op_.rounding_rule()).encoding);
      }
    }
  }

 private:
  Op op_;
};

}  // namespace

std::unique_ptr<Unit> make_exact_quantizer(const Op& op) { return std::make_unique<Quantizer>(op); }
std::unique_ptr<Unit> make_exact_dequantizer(const Op& op) { return std::make_unique<Dequantizer>(op); }

}  // namespace mmafuzz::exact
