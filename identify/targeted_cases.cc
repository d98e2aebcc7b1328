#include "identify/targeted_cases.h"

#include <algorithm>
#include <vector>

#include "arithmetic/evaluate_dot.h"
#include "oracles/models/parameters.h"
#include "search/aligned_term.h"
#include "search/walk_case.h"

namespace mmafuzz {
namespace {

/// One case while it is drawn.
class TargetedDraw {
 public:
  TargetedDraw(const Op& op, const DotModel& row, Batch& batch, size_t index, CounterRng& rng)
      : op_(op), row_(row), s_(op, CornerHints{}, batch, index, rng), rng_(rng) {
    const auto uses = [&](const char* name) { return find_parameter(name)->used_by(row.kernel); };
    // The cases of a row that cuts nothing assume any number of kept bits, as rows that cut have.
    kept_bits_ = uses("fraction_bits") ? row.fraction_bits
                 : rng.one_in(3)       ? s_.fd.fraction_bits + 1
                                       : rng.between(0, static_cast<int>(find_parameter("fraction_bits")->greatest));
    result_bits_ = uses("output_fraction_bits") ? row.output_fraction_bits : s_.fd.fraction_bits;
    has_floor_ = uses("zero_exponent");
  }

  void draw() {
    const int top = draw_top();
    draw_live_lanes();
    draw_signs();
    significands_ = rng_.below(5);
    const uint32_t spread = rng_.below(5);
    greatest_ = lowest;
    if (op_.has_scales()) draw_scaled_products(top, spread);
    else draw_products(top, spread);
    const uint32_t kind = rng_.below(6);
    if (kind == 0 && op_.scales() > 1) cancel_scaled(top);
    else if (kind == 0 && !op_.has_scales()) cancel(top);
    else if (kind <= 2 && !op_.has_scales()) solve_products(top);
    else draw_c(top);
    if (rng_.one_in(24)) put_special();
  }

 private:
  static constexpr int lowest = INT32_MIN / 4;

  /// The greatest exponent of a step.
  int draw_top() {
    const FormatFields& d = s_.fd;
    const int low = s_.fa.least_bit() + s_.fb.least_bit(), high = s_.greatest_exponent();
    switch (rng_.below(12)) {
      case 0:
      case 1:
      case 2: return has_floor_ ? row_.zero_exponent + rng_.between(-kept_bits_ - 4, 3) : rng_.between(-4, 4);
      case 3: return d.emin() + rng_.between(-result_bits_ - 3, 4);
      case 4: return d.emin() - result_bits_ + kept_bits_ + rng_.between(-9, 4);
      case 5: return d.emax() + rng_.between(-7, 1);
      case 6: return std::max(s_.fc.emin(), low) + rng_.between(-3, 4);
      case 7: return rng_.between(low, high);
      default: return rng_.between(-4, 4);
    }
  }

  /// All lanes, one block of the row, a few, or all but a few. The others are zeros.
  void draw_live_lanes() {
    live_.assign(static_cast<size_t>(op_.k), false);
    switch (rng_.below(5)) {
      case 0: {  // one block, as the row deals products to it
        const int block = std::clamp(traits_of(row_).sums_groups() ? row_.group : row_.block, 1, row_.k);
        const int first = s_.any_lane() / row_.k * row_.k;
        const int begin = static_cast<int>(rng_.below(static_cast<uint32_t>((row_.k + block - 1) / block))) * block;
        for (int i = begin; i < std::min(begin + block, row_.k); ++i) {
          const int lane = first + product_at(row_, i);
          if (lane < op_.k) live_[static_cast<size_t>(lane)] = true;
        }
        break;
      }
      case 1:
        for (int n = rng_.between(1, 3); n > 0; --n) live_[static_cast<size_t>(s_.any_lane())] = true;
        break;
      case 2:
        live_.assign(live_.size(), true);
        for (int n = rng_.between(1, 2); n > 0; --n) live_[static_cast<size_t>(s_.any_lane())] = false;
        break;
      default: live_.assign(live_.size(), true);
    }
    const bool plain_zeros = !rng_.one_in(6);
    for (int lane = 0; lane < op_.k; ++lane) {
      if (live_[static_cast<size_t>(lane)]) continue;
      s_.zero_lane(lane);
      if (plain_zeros) continue;
      if (s_.coin()) s_.set_a(lane, s_.fa.encode_zero(s_.fa.has_sign()));
      if (s_.coin()) s_.set_b(lane, s_.fb.encode_greatest(s_.fb.has_sign() && s_.coin()));
    }
  }

  /// All signs alike, c against the products, c at random, or each at random.
  void draw_signs() {
    sign_mode_ = rng_.below(4);
    sign_ = s_.coin();
  }
  bool sign_of_product() { return sign_mode_ < 3 ? sign_ : s_.coin(); }
  bool sign_of_c() { return sign_mode_ == 0 ? sign_ : sign_mode_ == 1 ? !sign_ : s_.coin(); }

  uint64_t fraction(const FormatFields& f) {
    switch (significands_) {
      case 0: return f.fraction_mask();
      case 1: return draw_fraction(f, rng_);
      case 2: return s_.fraction_of(f) | (f.fraction_bits ? 1 : 0);
      default: return s_.fraction_of(f);
    }
  }

  /// How far the exponent of an addend is below the greatest. `spread`, from 0 to 4, is the same for all of a case.
  int below_top(uint32_t spread) {
    switch (spread) {
      case 0: return 0;
      case 1: return static_cast<int>(rng_.below(3));
      case 2: return rng_.one_in(3) ? 0 : std::max(0, kept_bits_ + rng_.between(-3, 3));
      case 3: return rng_.one_in(3) ? 0 : static_cast<int>(rng_.below(static_cast<uint32_t>(kept_bits_) + 10));
      default: return rng_.one_in(4) ? static_cast<int>(rng_.below(8)) : 0;
    }
  }

  /// Draws the products of all live lanes, or of the lane `only`.
  void draw_products(int top, uint32_t spread, int only = -1) {
    for (int lane = 0; lane < op_.k; ++lane) {
      if (only >= 0 ? lane != only : !live_[static_cast<size_t>(lane)]) continue;
      const int e = top - below_top(spread);
      // Below the normal range the factors are subnormal.
      const int ea = FactorShare(s_.fa, s_.fb, e, true).any(rng_);
      const bool negative = sign_of_product();
      const bool negative_b = s_.fa.has_sign() && s_.fb.has_sign() && s_.coin();
      const uint64_t x = fraction(s_.fa);
      const uint64_t y = fraction(s_.fb);
      s_.set_a(lane, encode_near(s_.fa, s_.fa.has_sign() && negative != negative_b, ea, x));
      s_.set_b(lane, encode_near(s_.fb, negative_b, e - ea, y));
      greatest_ = std::max(greatest_, e);
    }
  }

  /// Two products cancel. c or another product is left, near the exponent at which alignment with the two cuts it.
  void cancel(int top) {
    const int first = s_.any_lane();
    const int second = first + 1 < op_.k && s_.coin() ? first + 1 : s_.any_lane();
    if (first == second) return draw_c(top);
    const bool alone = s_.coin();
    for (int lane = 0; lane < op_.k && alone; ++lane) s_.zero_lane(lane);
    draw_products(top, 0, first);
    s_.set_a(second, s_.a(first) ^ travelling_sign(s_.fa));
    s_.set_b(second, s_.b(first));
    const int small = greatest_ - kept_bits_ + rng_.between(-9, 4);
    const bool negative = s_.coin();
    if (rng_.one_in(3)) s_.zero_c();
    else put_c(negative, small);
    const int other = s_.any_lane();
    if (other == first || other == second || s_.coin()) return;
    draw_products(small, 0, other);
  }

  /// The products under two scales cancel, except perhaps for one lane. c or the products under other scales are left,
  /// near the exponent at which alignment with the two cuts them.
  void cancel_scaled(int top) {
    const uint32_t scales = static_cast<uint32_t>(op_.scales());
    const int first = static_cast<int>(rng_.below(scales));
    const int second = (first + 1 + static_cast<int>(rng_.below(scales - 1))) % static_cast<int>(scales);
    const int small = (greatest_ == lowest ? top : greatest_) - kept_bits_ + rng_.between(-9, 4);
    const bool alone = s_.coin();
    for (int i = 0; i < op_.scales(); ++i) {
      if (i == first || i == second) continue;
      if (!alone) put_scales(i, small - s_.fa.emax() - s_.fb.emax());
      for (int at = 0; at < op_.scale_block && alone; ++at) s_.zero_lane(i * op_.scale_block + at);
    }
    for (int at = 0; at < op_.scale_block; ++at) {
      const int from = first * op_.scale_block + at, to = second * op_.scale_block + at;
      s_.set_a(to, s_.a(from) ^ travelling_sign(s_.fa));
      s_.set_b(to, s_.b(from));
    }
    for (const size_t column : {size_t{3}, size_t{4}}) s_.set_scale(column, second, s_.scale(column, first));
    if (s_.coin()) {
      const int lane = second * op_.scale_block + static_cast<int>(rng_.below(static_cast<uint32_t>(op_.scale_block)));
      s_.set_b(lane, rng_.next() & s_.fb.container_mask());
    }
    const bool negative = s_.coin();
    if (s_.coin()) s_.zero_c();
    else put_c(negative, small);
  }

  /// c has the greatest exponent, and the products make a sum whose rounding a later step cannot hide: a tie, with ones
  /// that a carry runs through, or zeros, above it.
  void solve_products(int top) {
    const int unit = top - kept_bits_ - finer_bits();
    const bool negative = s_.coin();
    uint64_t c_fraction = fraction(s_.fc);
    if (const int below = s_.fc.fraction_bits - kept_bits_; below > 0 && !rng_.one_in(4))
      c_fraction &= ~low_mask(below);
    s_.set_c(encode_near(s_.fc, negative, top, c_fraction));
    const int64_t of_c = aligned_term(to_exact(decode(s_.fc, s_.c())), unit);
    const auto magnitude = static_cast<int64_t>(magnitude_of(of_c));
    int64_t rest = static_cast<int64_t>(rng_.next() & low_mask(rng_.between(0, std::min(kept_bits_ + 2, 40))));
    if (rng_.one_in(4)) rest = -rest;
    const int64_t about = std::max<int64_t>(magnitude + rest, 0);
    const int bits = about ? bit_length(static_cast<uint64_t>(about)) : 0;
    const int drop = std::max({bits - 1 - result_bits_, s_.fd.emin() - result_bits_ - unit, 0});
    const int above = rng_.between(0, 12);  // bits that a carry runs through
    if (drop + above >= max_aligned_bits) return;
    int64_t target = static_cast<int64_t>(static_cast<uint64_t>(about) & ~low_mask(drop + above));
    if (s_.coin()) target += static_cast<int64_t>(low_mask(above)) << drop;
    if (drop) target += (int64_t{1} << (drop - 1)) + (s_.coin() ? 0 : rng_.between(-1, 1));
    put_products((negative ? -target : target) - of_c, unit);
  }

  /// Products whose sum is units * 2^unit: each takes as many leading bits of the rest as an operand holds.
  void put_products(int64_t units, int unit) {
    s_.zero_lanes();
    const bool negative = units < 0;
    uint64_t rest = negative ? 0 - static_cast<uint64_t>(units) : static_cast<uint64_t>(units);
    const int first = s_.any_lane();
    for (int n = 0; n < op_.k && rest; ++n) {
      const int lane = (first + n) % op_.k, bits = bit_length(rest);
      const int below = std::max(0, bits - 1 - s_.fa.fraction_bits);
      const uint64_t taken = rest >> below;
      const int fraction_bits = bits - 1 - below;
      const uint64_t fraction = (taken & low_mask(fraction_bits)) << (s_.fa.fraction_bits - fraction_bits);
      s_.set_product(lane, s_.fa.has_sign() && negative, unit + bits - 1, fraction, 0);
      rest -= taken << below;
    }
  }

  /// Bits that the adder keeps beyond the row's fraction_bits, in the second stage of two_stage_sum.
  int finer_bits() {
    static constexpr int finer[] = {0, 7, 7, 8, 8};
    return finer[rng_.below(traits_of(row_).c == KernelTraits::Joining::second_stage ? 5 : 1)];
  }

  /// The scales carry the exponents; the operands are drawn from their whole small range, or all are greatest.
  void draw_scaled_products(int top, uint32_t spread) {
    const bool whole_range = s_.coin();
    for (int lane = 0; lane < op_.k; ++lane) {
      if (!live_[static_cast<size_t>(lane)]) continue;
      const bool negative = sign_of_product();
      const bool negative_b = s_.fa.has_sign() && s_.fb.has_sign() && s_.coin();
      const int ea = whole_range ? rng_.between(s_.fa.emin() - 1, s_.fa.emax()) : s_.fa.emax();
      const int eb = whole_range ? rng_.between(s_.fb.emin() - 1, s_.fb.emax()) : s_.fb.emax();
      const uint64_t x = fraction(s_.fa);
      const uint64_t y = fraction(s_.fb);
      s_.set_a(lane, encode_near(s_.fa, s_.fa.has_sign() && negative != negative_b, ea, x));
      s_.set_b(lane, encode_near(s_.fb, negative_b, eb, y));
    }
    const int by_operands = traits_of(row_).sums_groups() || s_.coin() ? 0 : s_.fa.emax() + s_.fb.emax();
    for (int i = 0; i < op_.scales(); ++i) {
      const int e = top - below_top(spread) - by_operands;
      put_scales(i, e);
      greatest_ = std::max(greatest_, e + by_operands);
    }
  }

  /// Scales whose product is about 2^e.
  void put_scales(int i, int e) {
    const FormatFields &fs = op_.scale_a.fields(), &ft = op_.scale_b.fields();
    const int es = FactorShare(fs, ft, e).any(rng_);
    const uint64_t x = fraction(fs);
    const uint64_t y = fraction(ft);
    s_.set_scale(3, i, encode_near(fs, false, es, x));
    s_.set_scale(4, i, encode_near(ft, false, e - es, y));
  }

  void draw_c(int top) {
    if (greatest_ == lowest) greatest_ = top;
    const bool negative = sign_of_c();
    switch (rng_.below(8)) {
      case 0: return s_.set_c(s_.fc.encode_zero(rng_.one_in(3)));
      case 1:
      case 2: return put_c(negative, greatest_ + rng_.between(-kept_bits_ - 12, kept_bits_ + 12));
      case 3: return put_c(negative, greatest_ + rng_.between(-2, 2));
      case 4: return put_c(negative, greatest_ + rng_.between(0, 14));
      default: solve_c();
    }
  }
  void put_c(bool negative, int e) { s_.set_c(encode_near(s_.fc, negative, e, fraction(s_.fc))); }

  /// The exact product of a lane under its scales.
  Exact term(int lane) const {
    Exact p = s_.product(lane);
    if (!op_.has_scales() || p.cls != NumberClass::finite) return p;
    const int at = lane / op_.scale_block;
    for (const size_t column : {size_t{3}, size_t{4}}) {
      const Number scale = decode(op_.input_format(column).fields(), s_.scale(column, at));
      if (scale.cls != NumberClass::finite) return Exact{};
      p.significand = p.significand * scale.significand;
      p.exponent += scale.exponent;
    }
    return p;
  }

  /// Chooses c so that the sum is draw_sum() units of the adder's last bit.
  void solve_c() {
    const int unit = greatest_ - kept_bits_ - finer_bits();
    int64_t sum = 0;
    for (int lane = 0; lane < op_.k; ++lane) {
      if (!live_[static_cast<size_t>(lane)]) continue;
      const Exact p = term(lane);
      if (p.cls == NumberClass::finite && p.significand) sum += aligned_term(p, unit);
    }
    s_.set_c(encode_units(s_.fc, draw_sum(unit) - sum, unit));
  }

  int64_t draw_sum(int unit) {
    const int most = std::min(kept_bits_ + 8, max_aligned_bits - 2);
    const int to_subnormals = s_.fd.emin() - result_bits_ - unit;  // the least bit of results there, in units
    int64_t target = 0;
    const uint32_t kind = rng_.below(3);
    if (kind == 0 && to_subnormals > 0 && to_subnormals < most) {
      target = (static_cast<int64_t>(rng_.below(5)) << to_subnormals) + (int64_t{1} << (to_subnormals - 1));
    } else if (kind <= 1 && result_bits_ + 1 <= most) {  // a tie
      const int bit = rng_.between(result_bits_ + 1, most), drop = bit - result_bits_;
      const uint64_t last = s_.coin() ? rng_.next() & low_mask(result_bits_) : s_.coin() ? 1 : low_mask(result_bits_);
      target = (int64_t{1} << bit) + (static_cast<int64_t>(last & low_mask(result_bits_)) << drop) +
               (int64_t{1} << (drop - 1));
    } else {
      target = int64_t{1} << rng_.below(static_cast<uint32_t>(most) + 1);
    }
    target += rng_.between(-1, 1);
    return sign_ ? -target : target;
  }

  void put_special() {
    const int lane = s_.any_lane();
    switch (rng_.below(3)) {
      case 0: return s_.set_c(draw_special(s_.fc, rng_));
      case 1: return s_.set_a(lane, draw_special(s_.fa, rng_));
      default: return s_.set_b(lane, draw_special(s_.fb, rng_));
    }
  }

  const Op& op_;
  const DotModel& row_;
  WalkCase s_;
  CounterRng& rng_;
  int kept_bits_ = 0, result_bits_ = 0;
  int greatest_ = lowest;  ///< the greatest exponent of the products; `lowest`: there is none
  bool has_floor_ = false, sign_ = false;
  uint32_t sign_mode_ = 0, significands_ = 0;
  std::vector<bool> live_;
};

}  // namespace

void TargetedCases::make(uint64_t number, Batch& batch, size_t index) const {
  CounterRng rng(seed_ ^ 0x7461726765740001u, number);
  TargetedDraw(op_, row_, batch, index, rng).draw();
}

}  // namespace mmafuzz
