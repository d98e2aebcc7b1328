// Levels of a datapath that are impossible, alone or in pairs. Each rule is a proof from the formats' ranges or from
// the meaning of a level. Words of this file: the *shift* of an addend is how many exponents it lies below the greatest
// of its block; an addend *leads* where no other one of its block has a greater exponent; it is *dead* where it takes
// no part in alignment, being zero, infinite or NaN. In a pair f and g are the factors, x and y their levels. Levels
// are numbers from 0 in the order of their names (texts() in search/datapath_state.cc): of `result`, 8 is an infinity.
#include <algorithm>
#include <cmath>

#include "arithmetic/bins.h"
#include "arithmetic/specials.h"
#include "search/datapath_state.h"
#include "search/possible_bins.h"

namespace mmafuzz {
namespace {

using Kind = DatapathState::Kind;
constexpr int far = 1 << 20;  ///< beyond every shift
constexpr int place_levels = 13, cut_levels = 6;

bool is_finite_value(int level) { return level == 1 || level == 2; }

/// Significands of subnormal or of normal numbers: all, or of over 10 fraction bits some for each level of `cut`.
std::vector<uint64_t> significands(const FormatFields& f, bool normal) {
  std::vector<uint64_t> all;
  const uint64_t first = normal ? uint64_t{1} << f.fraction_bits : 1, end = uint64_t{1} << (f.fraction_bits + normal);
  if (!normal && (f.subnormals == SubnormalRule::absent || f.subnormals == SubnormalRule::flushed)) return all;
  if (f.fraction_bits <= 10) {
    for (uint64_t x = first; x < end; ++x) all.push_back(x);
    return all;
  }
  for (int i = 0; i <= f.fraction_bits; ++i)
    for (const uint64_t x : {(uint64_t{1} << i) - 1, uint64_t{1} << i, (uint64_t{1} << i) + 1})
      for (const uint64_t pattern : {x, x | (end >> 1), end - x})
        if (pattern >= first && pattern < end) all.push_back(pattern);
  return all;
}

}  // namespace

/// Which levels are possible, and which pairs of levels.
class DatapathState::Limits {
  /// Both ends included; empty where `least` is the greater one.
  struct Range {
    int least = far, most = -1;
  };

 public:
  Limits(const Op& op, const DotModel& model, int kept, int block)
      : op_(op), model_(model), kept_(kept), block_(block) {
    model_.a = read_as(model, model.a);
    model_.b = read_as(model, model.b);
    const FormatFields &fa = model_.a, &fb = model_.b, &fc = model_.c;
    c_exponents_ = {fc.emin(), fc.emax()};
    factor_exponents_ = {fa.emin() + fb.emin(), fa.emax() + fb.emax()};
    product_exponents_ = factor_exponents_;
    if (model.scale_block) {
      product_exponents_.least += model.scale_a.emin() + model.scale_b.emin();
      product_exponents_.most += model.scale_a.emax() + model.scale_b.emax();
    }
    // From a shift of F + 9 on, all of an addend lies below half a unit: the last entry stands for all greater shifts.
    using Classes = std::vector<uint8_t>;  // by shift: bit n says that level n of `cut` occurs
    constexpr uint8_t all_classes = 0x3f;
    // Adds the levels of `cut` of a significand with `own_bits` fraction bits to those of each shift.
    const auto add_classes = [&](Classes& classes, uint128 significand, int own_bits) {
      for (int shift = 0; shift < static_cast<int>(classes.size()); ++shift)
        if (classes[size_t(shift)] != all_classes)
          classes[size_t(shift)] |= static_cast<uint8_t>(1u << bins::lost_class(significand, -own_bits, shift - kept_));
    };
    // Notes the possible cuts of each level of `place`, and the shifts of each cut, up to `max_shift`.
    const auto note_cuts = [&](uint8_t(&cuts)[place_levels], Range(&cut_shifts)[cut_levels], const Classes& classes,
                               int max_shift) {
      const int last = static_cast<int>(classes.size()) - 1;
      for (int place = 1; place < place_levels; ++place) {
        const Range range = shifts(place);
        for (int shift = range.least; shift <= std::min({range.most, last, max_shift}); ++shift) {
          cuts[place] |= classes[size_t(shift)];
          for (int cut = 0; cut < cut_levels; ++cut)
            if (classes[size_t(shift)] >> cut & 1)
              cut_shifts[cut] = {std::min(cut_shifts[cut].least, shift),
                                 std::max(cut_shifts[cut].most, shift == last ? max_shift : shift)};
        }
      }
    };
    const Classes none(size_t(kept_ + 10));
    // The fraction bits of scales change which bits of a product are cut off.
    std::vector<uint64_t> scale_products = {1};
    int scale_bits = 0;
    if (model.scale_block && model.scale_a.fraction_bits + model.scale_b.fraction_bits > 0) {
      scale_bits = model.scale_a.fraction_bits + model.scale_b.fraction_bits;
      scale_products.clear();
      for (const bool first : {false, true})
        for (const bool second : {false, true})
          for (const uint64_t x : significands(model.scale_a, first))
            for (const uint64_t y : significands(model.scale_b, second)) scale_products.push_back(x * y);
    }
    for (const bool normal_a : {false, true})
      for (const bool normal_b : {false, true}) {
        Classes classes = none;
        for (const uint64_t x : significands(fa, normal_a))
          for (const uint64_t y : significands(fb, normal_b))
            for (const uint64_t scale : scale_products)
              add_classes(classes, static_cast<uint128>(x) * y * scale,
                          fa.fraction_bits + fb.fraction_bits + scale_bits);
        for (const int later : {0, 1})
          if (later * block_ < op.k)
            note_cuts(cuts_[later][normal_a][normal_b], cut_shifts_[later], classes,
                      std::max(0, highest_above(later * block_, -1)));
      }
    for (const bool normal : {false, true}) {
      Classes classes = none;
      for (const uint64_t x : significands(fc, normal)) add_classes(classes, x, fc.fraction_bits);
      note_cuts(cuts_of_c_[normal], cut_shifts_[2], classes, std::max(0, highest_above(op.k, -1)));
    }
  }

  bool possible(const Factor& f, int x) const {
    const bool is_c = f.lane == op_.k;
    switch (f.kind) {
      case Kind::a: return !lacks(is_c ? model_.c : model_.a, x);
      case Kind::b: return !lacks(model_.b, x);
      case Kind::place: {
        if (x == 0) return true;
        const Range range = shifts(x);
        return range.least <= range.most && range.most >= 0 &&
               (range.least == 0 || range.least <= highest_above(f.lane, -1));
      }
      case Kind::sign: return x == 0 || (is_c ? model_.c.has_sign() : model_.a.has_sign() || model_.b.has_sign());
      case Kind::cut: {
        unsigned all = 1;
        for (int place = 1; place < place_levels; ++place)
          if (possible({Kind::place, f.lane, 0}, place))
            all |= is_c ? cuts_of_c_[0][place] | cuts_of_c_[1][place] : all_cuts(f.lane, place);
        return all >> x & 1;
      }
      case Kind::scale_a:
      case Kind::scale_b: {
        const FormatFields& s = f.kind == Kind::scale_a ? model_.scale_a : model_.scale_b;
        return x != 3 || s.has_nan();
      }
      case Kind::greatest: return x != 4 || block_ > 1;
      case Kind::lost: return x == 0 || traits_of(model_).aligns();
      case Kind::rest:
        return traits_of(model_).aligns() || x < 2 || x == 3 || x == 5 || x == 7;  // all that guard and sticky say
      case Kind::result:
        if (x == 8) return model_.d.has_infinity();
        if (x == 9) return model_.d.has_nan();
        if (x == 1)
          return model_.d.has_sign() && (!is_aligned() || model_.zero_sign != ZeroSign::positive ||
                                         exponents(0).least - kept_ <= model_.d.least_bit());
        return !(x >= 2 && x <= 4) || !lacks(model_.d, 1);
      case Kind::size:
        return x < 2 ||
               (!(is_aligned() && x == 10) && above(x).least <= max_above(1, 1) && above(x).least <= above(x).most);
      default: return true;
    }
  }

  bool possible(const Factor& f, int x, const Factor& g, int y) const {
    if (!possible(f, x) || !possible(g, y)) return false;
    if (f.kind <= Kind::cut && g.kind <= Kind::cut) {
      if (f.lane == g.lane) return in_one_lane(f, x, g, y);
      return beside_each_other(f, x, g, y);
    }
    if (g.kind == Kind::greatest) return with_greatest(f, x, y);
    if (g.kind > Kind::greatest) return with_sum(f, x, g, y);
    return true;
  }

 private:
  /// Least and greatest shift of a level of `place` from 1 on; an empty range where F leaves none.
  Range shifts(int place) const {
    if (place == 12) return {kept_ + 3, far};
    if (place >= 8) return {std::max(kept_ - 9 + place, 0), kept_ - 9 + place};
    static constexpr Range low[] = {{0, 0}, {1, 1}, {2, 2}, {3, 4}, {5, 8}, {9, 16}, {17, far}};
    const Range range = low[place - 1];
    return {range.least, std::min(range.most, kept_ - 2)};
  }

  int end_of_block(int lane) const { return std::min((lane / block_ + 1) * block_, op_.k); }

  /// The exponents of a lane's product with its scales, or of c (lane k).
  const Range& exponents(int lane) const { return lane == op_.k ? c_exponents_ : product_exponents_; }

  /// The maximum shift of `lane` below `other`, an addend of the same block.
  int spread(int lane, int other) const {
    const bool shares_scales =
        lane < op_.k && other < op_.k && model_.scale_block && lane / model_.scale_block == other / model_.scale_block;
    if (shares_scales) return factor_exponents_.most - factor_exponents_.least;
    return exponents(other).most - exponents(lane).least;
  }

  /// The maximum shift of `lane` below an addend of its block other than itself and `besides` (-1: none); -1: there is
  /// none.
  int highest_above(int lane, int besides) const {
    const int first = lane == op_.k ? 0 : lane / block_ * block_;
    const int farthest = product_exponents_.most - exponents(lane).least, end = end_of_block(first);
    int most = -1;
    for (int other = first; other < end && most < farthest; ++other)
      if (other != lane && other != besides) most = std::max(most, spread(lane, other));
    if (first == 0 && lane != op_.k && besides != op_.k) most = std::max(most, spread(lane, op_.k));
    return most;
  }

  /// Whether a level implies that the addend is not dead and has a shift; standing() is the range of that shift.
  static bool stands(const Factor& f, int x) { return (f.kind == Kind::place || f.kind == Kind::cut) && x > 0; }
  Range standing(const Factor& f, int x) const {
    return f.kind == Kind::place ? shifts(x) : cut_shifts_[f.lane == op_.k ? 2 : f.lane >= block_][x];
  }

  unsigned all_cuts(int lane, int place) const {
    const auto& cuts = cuts_[lane >= block_];
    return cuts[0][0][place] | cuts[0][1][place] | cuts[1][0][place] | cuts[1][1][place];
  }

  /// Whether a level implies that an addend is dead.
  bool is_dead(const Factor& f, int x) const {
    return (f.kind <= Kind::b && !is_finite_value(x)) || (f.kind == Kind::place && x == 0);
  }

  /// Whether c, normal or subnormal, can have a shift of this level of `place`, given the exponents of products.
  bool c_may_stand(bool normal, int place) const {
    const Range range = shifts(place), products = exponents(0);
    const int low = model_.c.emin(), high = normal ? model_.c.emax() : low;
    return place == 1 || (low + range.least <= products.most && high + range.most >= products.least);
  }

  /// Levels of two factors of one lane, or of c.
  bool in_one_lane(const Factor& f, int x, const Factor& g, int y) const {
    const bool is_c = f.lane == op_.k;
    if (is_dead(f, x)) return (g.kind != Kind::place && g.kind != Kind::cut) || y == 0;
    if (is_c && f.kind == Kind::a && g.kind == Kind::place && y == 0) return false;
    if (g.kind != Kind::cut || f.kind == Kind::sign) {
      return !is_c || f.kind != Kind::a || g.kind != Kind::place || c_may_stand(x == 2, y);
    }
    unsigned cuts = 0;
    for (int place = 1; place < place_levels; ++place) {
      if (f.kind == Kind::place && place != x) continue;
      if (!possible({Kind::place, f.lane, 0}, place)) continue;
      for (const int first : {0, 1}) {
        if (is_c) {
          if ((f.kind == Kind::a && x != first + 1) || !c_may_stand(first, place)) continue;
          const int nearest = exponents(0).least - (first ? model_.c.emax() : model_.c.emin());
          const bool whole = place == 12 && nearest > kept_ + 9;  // far below half a unit
          cuts |= whole ? cuts_of_c_[first][place] & 6u : cuts_of_c_[first][place];
          continue;
        }
        for (const int second : {0, 1})
          if (f.kind == Kind::place || x == (f.kind == Kind::a ? first : second) + 1)
            cuts |= cuts_[f.lane >= block_][first][second][place];
      }
    }
    if (f.kind != Kind::place && !is_c) cuts |= 1;  // the other factor may be zero
    return cuts >> y & 1;
  }

  /// Levels of factors of two lanes, or of a lane and c, which is then g's.
  bool beside_each_other(const Factor& f, int x, const Factor& g, int y) const {
    const bool with_c = g.lane == op_.k;
    const bool together = with_c ? f.lane < block_ : f.lane / block_ == g.lane / block_;
    if (!together) return true;
    if (with_c && end_of_block(0) == 1 && is_dead(f, x))  // c leads then
      return !stands(g, y) || (g.kind == Kind::place ? y == 1 : (cuts_of_c_[0][1] | cuts_of_c_[1][1]) >> y & 1);
    if (with_c && only_c_leads(f, x)) {
      if (g.kind == Kind::a)
        return y == 2 || (y == 1 && exponents(f.lane).least <= model_.c.emin() - standing(f, x).least);
      if (g.kind == Kind::cut) return (cuts_of_c_[0][1] | cuts_of_c_[1][1]) >> y & 1;
      return g.kind != Kind::place || y == 1;
    }
    // Where c is subnormal, the product's exponent is as low as c's, or another product leads it.
    if (with_c && g.kind == Kind::a && y == 1 && stands(f, x)) {
      const int shift = standing(f, x).least;
      return shift == 0 || shift <= highest_above(f.lane, op_.k) || exponents(f.lane).least <= model_.c.emin() - shift;
    }
    if (stands(f, x) && is_dead(g, y))
      return standing(f, x).least == 0 || standing(f, x).least <= highest_above(f.lane, g.lane);
    if (is_dead(f, x) && stands(g, y))
      return standing(g, y).least == 0 || standing(g, y).least <= highest_above(g.lane, f.lane);
    if (!stands(f, x) || !stands(g, y)) return true;
    const Range p = standing(f, x), q = standing(g, y);
    if (p.least - q.most > spread(f.lane, g.lane) || q.least - p.most > spread(g.lane, f.lane)) return false;
    if (p.least == 0 || q.least == 0) return true;
    return p.least <= highest_above(f.lane, g.lane) && q.least <= highest_above(g.lane, f.lane);
  }

  /// A level of a lane or of c, and a level of `greatest`.
  bool with_greatest(const Factor& f, int x, int greatest) const {
    const bool c_has = greatest == 1 || greatest == 3;
    if (f.kind > Kind::cut || f.kind == Kind::sign || f.lane >= block_ + (f.lane == op_.k ? op_.k : 0)) return true;
    if (f.lane == op_.k) {
      if (is_dead(f, x)) return !c_has;
      if (f.kind == Kind::cut)
        return x == 0 || (c_has ? (cuts_of_c_[0][1] | cuts_of_c_[1][1]) >> x & 1 : greatest != 0);
      if (greatest == 0) return false;
      if (f.kind == Kind::place) return c_has == (x == 1);
      if (x == 1 && greatest == 3) return exponents(0).least <= model_.c.emin() && model_.c.emin() <= exponents(0).most;
      return true;
    }
    const int others = end_of_block(0) - 1, needed = greatest == 4 ? 2 : greatest >= 2 ? 1 : 0;
    if (is_dead(f, x)) return others >= needed;
    if (!stands(f, x)) return true;
    const Range p = standing(f, x);
    if (greatest == 0 || (p.most == 0 && greatest == 1)) return false;
    if (p.least == 0) return others + 1 >= needed;
    if (others < needed) return false;
    if (greatest == 1) return p.least <= spread(f.lane, op_.k);
    return !only_c_leads(f, x);
  }

  /// The maximum number of bits from the greatest exponent up to the sum's leading one, where one lane contributes at
  /// most `part_of_lane` of a product's greatest magnitude and c `part_of_c` of c's (0 to 1); `far`: no known limit.
  int max_above(double part_of_lane, double part_of_c) const {
    const bool floors = traits_of(model_).floors() || second_stage_bits() > 0;
    if ((!is_aligned() && !floors) || model_.scale_block) return far;
    // Where the row aligns a subnormal c at a lower exponent than DatapathState reads, other addends can be greater
    // than the greatest exponent says.
    if (least_exponent_of_c(model_, model_.c) < model_.c.emin() || model_.c_guard_bits > 0)
      part_of_lane = part_of_c = 1;
    const auto greatest = [](const FormatFields& f) { return 2 - std::ldexp(1, -f.fraction_bits); };
    const double product = greatest(model_.a) * greatest(model_.b),
                 c = std::ldexp(std::max(greatest(model_.c), greatest(model_.d)), model_.c_guard_bits);
    // What is floored may be greater by one unit, which also lies at most kept_ bits below d's least exponent.
    const int unit = std::max(-kept_, model_.d.emin() - kept_ - exponents(0).least);
    const double floored = floors ? (block_ + 2) * std::ldexp(1, std::min(unit, 64)) : 0;
    return std::ilogb(product * (block_ - 1 + part_of_lane) + c * part_of_c + floored);
  }

  /// Bits from the greatest exponent up to the sum's leading one at a level of `size` from 2 on; negative: down.
  Range above(int size) const {
    if (size >= 11) return {size - 11, size == 16 ? far : size - 11};
    static constexpr Range depth[] = {{1, 1}, {2, 2}, {3, 4}, {5, 8}, {9, 16}, {17, far}};
    const int f = kept_;
    if (size == 10) return {-far, -f - 1};
    if (size >= 8) return {-(f - 9 + size), -(f - 9 + size)};
    return {-std::min(depth[size - 2].most, f - 2), -depth[size - 2].least};
  }

  /// Whether a remainder of this level of `rest` is an odd number of the step's units.
  static bool is_odd(int rest) { return rest == 2 || rest == 4 || rest == 6 || rest == 8; }
  /// Bits that a second stage keeps below those of the first one; 0: the row has one stage.
  int second_stage_bits() const {
    if (traits_of(model_).c != KernelTraits::Joining::second_stage) return 0;
    return model_.second_stage == SecondStage::floor32_then_31 ? 8 : 7;
  }
  /// Whether a level leaves a second stage no odd sum. Only products that far below c have a bit of its unit.
  bool makes_even(const Factor& f, int x) const {
    if (second_stage_bits() == 0 || !is_single()) return false;
    if (f.kind == Kind::greatest) return x != 1;
    if (f.lane == op_.k && f.kind == Kind::a) return x < 2;
    if (f.lane == op_.k && f.kind <= Kind::cut) return f.kind != Kind::sign && (f.kind == Kind::place ? x != 1 : x > 0);
    return stands(f, x) && standing(f, x).most < second_stage_bits();
  }

  /// Whether a sum at this level of `size` can have this level of `rest`.
  bool can_leave(int size, int rest) const {
    const KernelTraits traits = traits_of(model_);
    const bool sums_integers = traits.aligns() && traits.c != KernelTraits::Joining::last;
    if (size == 1) return rest == 1 || !sums_integers;
    // An odd sum is less than c by products that lie far below it: not by half of it. As great as c, it is floored.
    if (second_stage_bits() > 0 && is_odd(rest) && 4 * block_ < 1 << (second_stage_bits() - 1) &&
        (second_stage_bits() == 8 ? size != 2 : size != 2 && size < 11))
      return false;
    if (!sums_integers || rest == 1 || exponents(0).least - kept_ <= model_.d.emin()) return true;
    if (model_.output_via != OutputVia::direct) return true;
    const int precision = result_fraction_bits(model_) + 1;
    const int dropped = std::min(above(size).most, max_above(1, 1)) + kept_ + second_stage_bits() + 1 - precision;
    return dropped >= 3 || (dropped == 2 && (rest == 2 || rest == 5 || rest == 8)) || (dropped == 1 && rest == 5);
  }

  /// Whether the whole case is one step.
  bool is_single() const { return block_ >= op_.k && model_.k >= op_.k; }

  /// Whether each step is one sum, cut in integers kept_ bits below its greatest exponent.
  bool is_aligned() const { return traits_of(model_).is_fused_sum(); }

  /// Whether c is aligned with the products, not added after them.
  bool cuts_all() const {
    const KernelTraits traits = traits_of(model_);
    return traits.aligns() && traits.c != KernelTraits::Joining::last;
  }

  /// Whether the shift that this level implies is so great that only c can lead.
  bool only_c_leads(const Factor& f, int x) const {
    if (!stands(f, x) || f.lane >= block_ || standing(f, x).least == 0) return false;
    return standing(f, x).least > highest_above(f.lane, op_.k);
  }

  /// The weight of the lowest one-bit that such a result (levels 2 to 5) has at most, as an exponent of two.
  int bit_of_result(int result) const {
    return result == 2 || result == 4 ? model_.d.emin() - result_fraction_bits(model_)
                                      : model_.d.emin() - (result == 3);
  }

  /// Whether a level excludes a result because products lie far from both ends of the range of c's format, which is
  /// d's.
  bool of_exact_products(const Factor& f, int x, int result) const {
    const FormatFields& d = model_.d;
    const int least = exponents(0).least, most = exponents(0).most;
    if (model_.scale_block || !(model_.c == d) || model_.form != Form::s_plus_c) return false;
    // Rounded up, the sum of the greatest number and a tiny one is infinity; rounded down, x - x is -0.
    if (model_.output_rounding == Rounding::up || model_.output_rounding == Rounding::down) return false;
    const bool is_c = f.lane == op_.k, of_c = is_c && f.kind != Kind::sign;
    const int last_bit = least - model_.a.fraction_bits - model_.b.fraction_bits;
    // Such a sum is -0 only where all addends are -0: no other sum rounds to zero.
    if (result == 1 && !traits_of(model_).aligns() && last_bit >= d.emin()) {
      if (f.kind == Kind::sign) return x == 0;
      return of_c && f.kind == Kind::a && (x == 2 || (x == 1 && !flushes(model_)));
    }
    // A nonzero sum with a nonzero product is at least 2^-26 of the product's last bit: a smaller result is c alone.
    if (of_c && result >= 2 && result <= 5 && last_bit - 40 > d.emin()) {
      if (f.kind == Kind::a) return x != (result == 5 ? 2 : 1);
      return stands(f, x) ? standing(f, x).least > 0 && standing(f, x).most < least - d.emin() - 1
                          : f.kind == Kind::place;
    }
    // Products are too small to change the greatest numbers: c leads, and is infinite where the result is.
    if (most + 3 + std::ilogb(op_.k) >= d.emax() - 40) return false;
    if (result == 7) {
      if (of_c && f.kind == Kind::a) return x != 2;
      if (of_c && f.kind == Kind::place) return x != 1;
      if (of_c) return !(cuts_of_c_[1][1] >> x & 1);
      return stands(f, x) && f.lane < block_ && standing(f, x).most < d.emax() - most;
    }
    if (result == 8 && of_c && !model_.a.has_infinity() && !model_.b.has_infinity())
      return f.kind == Kind::a ? x != 3 : x > 0;
    return false;
  }

  /// Any level, and a level of `result`.
  bool with_result(const Factor& f, int x, int result) const {
    const bool of_c = f.kind == Kind::place || f.kind == Kind::cut || f.kind == Kind::a ? f.lane == op_.k : false;
    const int least = exponents(0).least, most = exponents(0).most;
    // Where a product is not dead, its step cuts every addend, and so the sum that it hands on, at most `below` bits
    // below the product's exponent.
    const int below = kept_ + (is_aligned() ? 0 : 8);
    if (result >= 2 && result <= 5 && cuts_all() && stands(f, x) && (f.lane < op_.k || standing(f, x).least > 0) &&
        least - below > bit_of_result(result))
      return false;
    // Where c lies below the greatest exponent, that is so far above c's least one.
    if (result >= 2 && result <= 5 && cuts_all() && is_single() && of_c && stands(f, x) &&
        model_.c.emin() + standing(f, x).least - below > bit_of_result(result))
      return false;
    if (of_exact_products(f, x, result)) return false;
    if (!is_aligned()) return true;
    // A sum is a multiple of 2^(greatest exponent - F): smaller results come from c alone.
    const bool small = result >= 1 && result <= 5,
               low = result >= 2 && result <= 5 && least - kept_ > bit_of_result(result);
    const bool minus = result == 1 && least - kept_ > model_.d.least_bit() - 2;  // all addends are zeros
    // `leads`: products do not reach the greatest number, so c leads. `alone`: they even lie below c's last kept bit.
    const bool high = result == 7 || result == 8;
    const bool leads = high && most + 3 + std::ilogb(op_.k) < model_.d.emax();
    const bool alone = high && most + 3 + std::ilogb(op_.k) < model_.d.emax() - kept_;
    switch (f.kind) {
      case Kind::a:
        if (!of_c) return true;
        if (minus) return x == 0;
        if (low && model_.c == model_.d) return x == (result < 5 ? 1 : 2);
        if (leads && result == 7 && model_.c == model_.d) return x == 2;
        if (low || (leads && result == 7)) return x == 1 || x == 2;
        return true;
      case Kind::place:
      case Kind::cut: {
        if (!stands(f, x)) return f.kind == Kind::cut || !of_c || !(low || (leads && result == 7));
        if (minus) return false;
        const Range p = standing(f, x);
        if (of_c) return (!low && !(leads && result == 7)) || p.least == 0;
        if (is_single() && result >= 2 && result <= 5 && least + p.least - kept_ > bit_of_result(result)) return false;
        if (only_c_leads(f, x)) {
          if (small && least + p.least - 2 > model_.d.emin()) return false;
          if (result == 0 && products_below_c(f, x) < 1 && least + p.least - 2 > model_.d.emin()) return false;
          if (alone && result == 8 && !lanes_have_specials()) return false;
        }
        return f.lane >= block_ || !(leads && result == 7) || p.most >= model_.d.emax() - most;
      }
      default: return true;
    }
  }

  /// Any level, and a level of a factor behind `greatest`.
  bool with_sum(const Factor& f, int x, const Factor& g, int y) const {
    const bool of_c = f.kind <= Kind::cut && f.lane == op_.k;
    if (of_c && model_.form == Form::s_alone) return true;
    const bool special =
        (f.kind <= Kind::b && x >= 3) || ((f.kind == Kind::scale_a || f.kind == Kind::scale_b) && x == 3);
    if (g.kind < Kind::result && special) return y == 0;
    if (f.kind == Kind::greatest && x == 0 && is_single()) return y == 0;
    if (g.kind == Kind::result) {
      if (special && model_.d.has_nan())
        return y == 9 || (f.kind <= Kind::b && x == 3 && (y == 8 || !model_.d.has_infinity()));
      if (!lanes_have_specials() && f.kind <= Kind::cut && is_aligned() && is_single() && y == 9)
        return !(of_c && (f.kind == Kind::a ? x < 3 : f.kind == Kind::place && x > 0)) && !only_c_leads(f, x);
      return with_result(f, x, y);
    }
    const bool far_below = is_aligned() && is_single() && model_.scale_block == 0 && only_c_leads(f, x);
    if (!lanes_have_specials() && is_aligned() && is_single() && f.kind <= Kind::cut &&
        (g.kind == Kind::size || g.kind == Kind::rest) && y == 0)
      if (far_below || (f.kind == Kind::cut     ? x > 0
                        : f.kind == Kind::place ? x > 0 && of_c
                                                : f.kind == Kind::a && of_c && is_finite_value(x)))
        return false;
    if (f.kind == Kind::cut && x > 0 && is_single() && is_aligned() && !lanes_have_specials() && g.kind == Kind::lost &&
        y == 0)
      return false;
    if (far_below && !is_other_result(f, x, g, y)) return false;
    const bool in_last_step = f.kind <= Kind::cut && (of_c ? is_single() : f.lane >= (op_.k - 1) / block_ * block_);
    if (g.kind == Kind::rest && is_odd(y) && makes_even(f, x)) return false;
    if (g.kind == Kind::size && y >= 2) {
      const double part = !in_last_step                 ? 1
                          : is_dead(f, x)               ? 0
                          : stands(f, x)                ? std::exp2(-std::min(standing(f, x).least, 60))
                          : f.kind <= Kind::b && x == 1 ? 0.5  // subnormal
                                                        : 1;
      if (above(y).least > max_above(of_c ? 1 : part, of_c ? part : 1)) return false;
    }
    // An addend of such a shift is lost whole.
    if (f.kind == Kind::place && x >= (of_c ? 10 : 11) && in_last_step && is_aligned() && g.kind == Kind::lost)
      return y != 1;
    if (of_c && f.kind == Kind::a && x == 1 && g.kind == Kind::lost && y == 1 && is_single() && is_aligned() &&
        kept_ >= model_.c.fraction_bits) {
      for (int place = 2; place < 11; ++place)
        if (c_may_stand(false, place)) return true;
      return false;
    }
    // The last product of a chain is zero: nothing is rounded.
    if (g.kind == Kind::rest && !of_c && is_dead(f, x) && f.kind <= Kind::cut && f.lane == op_.k - 1 &&
        products_per_step(model_) == 1 && model_.order == ProductOrder::ascending)
      return y <= 1;
    if (f.kind == Kind::size && x == 0) return y == 0;
    if (f.kind == Kind::size && g.kind == Kind::rest) return y != 0 && can_leave(x, y);
    if (f.kind == Kind::lost && x > 0 && g.kind == Kind::rest && is_aligned()) return y != 0;
    return true;
  }

  bool lanes_have_specials() const {
    return model_.a.has_nan() || model_.a.has_infinity() || model_.b.has_nan() || model_.b.has_infinity() ||
           (model_.scale_block && (model_.scale_a.has_nan() || model_.scale_b.has_nan()));
  }

  /// A bound of the magnitude of the first block's products together, in units of 2^(c's exponent), where c leads.
  double products_below_c(const Factor& f, int x) const {
    return 4.0 * block_ * std::exp2(others_above(f.lane) - std::min(standing(f, x).least, 60));
  }
  /// How many exponents another product of the first block can lie above this one.
  int others_above(int lane) const { return std::max(highest_above(lane, op_.k), 0); }

  /// Whether level y of a factor of the sum is possible where the shift that level x implies lets only c lead.
  bool is_other_result(const Factor& f, int x, const Factor& g, int y) const {
    const double products = products_below_c(f, x);
    const int last =
        std::max<int>(model_.c.fraction_bits, std::min(standing(f, x).most, far / 2) + others_above(f.lane) +
                                                  model_.a.fraction_bits + model_.b.fraction_bits);
    switch (g.kind) {
      case Kind::size: return y == 0 || (y == 1 ? products >= 1 : products >= 0.5 || (y >= 11 ? y <= 12 : y == 2));
      case Kind::rest: return last >= kept_ || (y != 2 && y != 4 && y != 6 && y != 8);
      case Kind::lost: return y == 0 || last > kept_;
      default: return true;
    }
  }

  const Op op_;
  DotModel model_;  ///< the row, with a and b as the unit reads them
  const int kept_, block_;
  Range factor_exponents_, product_exponents_,
      c_exponents_;  ///< exponents: of a product of normal numbers, of it with its scales, of c
  /// Possible levels of `cut`, bit n for level n. cuts_: of a product, [0 in the first block, 1 in a later one][a is
  /// normal, not subnormal][the same of b][level of `place`]. cuts_of_c_: of c, [c is normal][level of `place`].
  uint8_t cuts_[2][2][2][place_levels] = {}, cuts_of_c_[2][place_levels] = {};
  /// Shifts that leave each level of `cut`: [0 products of the first block, 1 of later ones, 2 c][level of `cut`].
  Range cut_shifts_[3][cut_levels];
};

std::shared_ptr<const DatapathState::Limits> DatapathState::make_limits(const Op& op, const DotModel& model, int kept,
                                                                        int block) {
  return std::make_shared<Limits>(op, model, kept, block);
}

bool DatapathState::possible(const Factor& factor, int level) const { return limits_->possible(factor, level); }

bool DatapathState::possible(const Factor& first, int level, const Factor& second, int other) const {
  return limits_->possible(first, level, second, other);
}

}  // namespace mmafuzz
