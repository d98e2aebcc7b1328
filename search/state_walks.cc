// The walk of states: every level of each factor of the datapath (search/datapath_state.h) together with every level of
// each other factor. Lanes, c, scales and the sum each have a column of an orthogonal array (Bush 1952), whose digit
// says which levels they shall have; operands are solved for that.
#include <bit>
#include <vector>

#include "arithmetic/bins.h"
#include "search/datapath_walks.h"
#include "search/prime.h"
#include "search/sum_solver.h"
#include "search/walk_case.h"

namespace mmafuzz {
namespace {

/// The levels that a lane or c shall have: classes of bins::value_kind, and of finite numbers the level of `place`. Of
/// c, b does not count.
struct Wanted {
  uint8_t a, b;
  int8_t place;  ///< as DatapathState's levels of `place`; 0: the addend is zero or special
};

constexpr int places = 12, zero = 0, subnormal = 1, normal = 2, infinity = 3, nan = 4;

bool is_live(const Wanted& w) { return w.place > 0; }
bool is_special(const Wanted& w) { return w.a >= infinity || w.b >= infinity; }

/// All states of a lane; without `specials`, those without infinities and NaNs, of which sums can be made.
std::vector<Wanted> lane_states(bool specials) {
  std::vector<Wanted> all;
  for (uint8_t a = 0; a <= nan; ++a)
    for (uint8_t b = 0; b <= nan; ++b) {
      const bool finite = a > zero && a < infinity && b > zero && b < infinity;
      if (finite)
        for (int8_t place = 1; place <= places; ++place) all.push_back({a, b, place});
      else if (specials || (a < infinity && b < infinity)) all.push_back({a, b, 0});
    }
  return all;
}

/// Makes one case of the walk. A lane is live where its product is finite and not zero, and great where its exponent is
/// the greatest or one below.
class StateCase {
 public:
  /// `row`: whose sums are solved for, or nullptr.
  StateCase(const Op& op, const DotModel* row, WalkCase& s) : op_(op), row_(row), s_(s) {}

  /// digit(i) is the array's digit of column i: the lanes, then c, the sum, and two for each block of scales. `states`:
  /// what a lane's digit means. `solved`: the last step shall add up to a sum of the size that its digit says.
  template <class Digit>
  void make(const std::vector<Wanted>& states, bool specials, bool solved, Digit digit) {
    // A sum is solved for in the last step, and all lanes of other steps are zero or cancel. Steps before a big sum may
    // leave it what they will: then, as where nothing is solved for, the whole dot is as the digits say.
    const int last_block = (s_.k - 1) / s_.block * s_.block;
    const SumSolver solver(s_, row_);
    WantedSum sum = solver.draw(digit(s_.k + 1) % WantedSum::sizes);
    const bool big = sum.is_big(), whole = !solved || (big && s_.coin());
    const int first = solved ? last_block : 0, end = whole ? s_.k : std::min(first + s_.block, s_.k);
    wanted_.resize(static_cast<size_t>(s_.k) + 1);
    // Of many lanes at least one would nearly always be special: in half of the cases at most two are.
    const int may_be_special = specials && s_.coin() ? below(3) : s_.k, shift = s_.any_lane();
    for (int lane = 0; lane < s_.k; ++lane) {
      const auto state = static_cast<size_t>(digit(lane));
      Wanted& w = wanted(lane);
      if (state < states.size()) w = states[state];
      // Digits beyond the states stand for normal numbers, as most operands are.
      if (state >= states.size() || (is_special(w) && (lane + shift) % s_.k >= may_be_special))
        w = {normal, normal, static_cast<int8_t>(1 + below(places))};
    }
    wanted_.back() = c_state(digit(s_.k), specials);
    const bool alone = !solved && s_.rng.one_in(16);        // no lane is live, only c
    if (!solved && s_.block < s_.k && s_.rng.one_in(16)) {  // nothing is in the first step
      for (int lane = 0; lane < s_.block; ++lane) kill(wanted(lane));
      wanted_.back() = {zero, normal, 0};
    }
    const bool few = solved ? !big && s_.rng.one_in(solver.adds_two() ? 4 : 2) : s_.rng.one_in(8);
    const bool others_cancel = first > 0 && s_.coin();
    const int live = alone ? 0 : few ? 1 + below(3) : s_.k, turn = s_.any_lane();
    for (int lane = 0; lane < s_.k && (!whole || alone || few); ++lane) {
      Wanted& w = wanted(lane);
      const bool is_solved = lane >= first && lane < end;
      if (whole ? (lane + turn) % s_.k < live : is_solved ? (lane + turn) % (end - first) < live : others_cancel)
        continue;
      kill(w);
    }
    if (op_.has_scales() && !solved) draw_scales(digit, specials);
    negative_ = s_.coin();
    below_c_ = solved && !big && solver.needs_c_to_lead(sum) && !s_.rng.one_in(4);
    sum.as_it_is |= below_c_;
    favoured_cut_ = s_.coin() ? 5 : below(6);  // often all_ones, which the fewest operands give
    all_alike_ = (alone || (solved && big)) && !s_.rng.one_in(4);
    if (solved && big) make_big(sum.above, first, end);
    make_greatest(whole, solved && big);
    top_ = choose_top(solved);
    for (int lane = 0; lane < s_.k; ++lane) set_lane(lane);
    if (!solved) {
      const int spared = below(3);
      const bool nothing_left = !alone && s_.rng.one_in(4) && mirror_lanes(0, s_.k, spared) && spared == 0;
      set_c();
      if (alone || nothing_left ? s_.coin() : s_.rng.one_in(32)) set_end();
      return;
    }
    if (others_cancel) mirror_lanes(0, first, 0);
    // A c of few bits makes great sums no small ones. Beside a rounded sum c makes the least ones if that is a power of
    // two.
    const bool least = solver.adds_two() && !sum.as_it_is && (sum.size == 7 || sum.size == 8);
    if (least || (!big && !below_c_ && (s_.fc.fraction_bits < s_.kept_bits ? s_.coin() : s_.rng.one_in(4))))
      mirror_lanes(first, end, least ? 1 : below(3), least);
    set_c();
    if (all_alike_) sum.negative = negative_;
    // Great lanes make a great sum; of other ones those that are dead change first.
    solver.solve(sum, !is_special(wanted_.back()), [&](int lane) {
      const Wanted& w = wanted(lane);
      return is_special(w) || (big && (w.place == 1 || w.place == 2)) ? SumSolver::Spare::never
             : is_live(w)                                             ? SumSolver::Spare::at_need
                                                                      : SumSolver::Spare::first;
    });
  }

 private:
  int below(int n) { return s_.rng.between(0, n - 1); }
  Wanted& wanted(int lane) { return wanted_[static_cast<size_t>(lane)]; }

  void kill(Wanted& w) {
    if (is_live(w)) (s_.coin() ? w.a : w.b) = zero;
    w.place = 0;
  }

  static Wanted c_state(int digit, bool specials) {
    const int number = digit % (2 * places + (specials ? 3 : 1));
    if (number < places) return {normal, normal, static_cast<int8_t>(1 + number)};
    if (number < 2 * places) return {subnormal, normal, static_cast<int8_t>(1 + number - places)};
    static constexpr uint8_t dead[] = {zero, infinity, nan};
    return {dead[number - 2 * places], normal, 0};
  }

  int shift_of(int place) {
    switch (place) {
      case 4: return 3 + below(2);
      case 5: return 5 + below(4);
      case 6: return 9 + below(8);
      case 7: return s_.kept_bits > 18 ? s_.rng.between(17, s_.kept_bits - 2) : 17;
      case 12: return s_.kept_bits + 3 + (s_.coin() ? below(4) : below(200));
      default: return place < 4 ? place - 1 : s_.kept_bits - 9 + place;
    }
  }

  /// Makes as many of the lanes first..end-1 greatest as a sum takes that is `above` bits above the greatest exponent.
  void make_big(int above, int first, int end) {
    const int lanes = end - first, turn = below(lanes);
    // At times only one of these lanes, or c, is greatest, and twice as many lanes are one exponent below.
    const bool follow = s_.rng.one_in(3), c_leads = s_.coin();
    const int needed = ((1 << above) / 4 + 1 + below(2)) * (follow ? 2 : 1);
    for (int i = 0; i < std::min(lanes, needed); ++i)
      wanted(first + (i + turn) % lanes) = {normal, normal, static_cast<int8_t>(follow && (c_leads || i > 0) ? 2 : 1)};
    if (follow && c_leads) wanted_.back() = {normal, normal, 1};
  }

  /// Makes an addend the greatest where none is: a live lane, or c. The same in most blocks of a dot of several blocks,
  /// whose greatest exponents may lie lower; where the last step is big, those of the other blocks do.
  void make_greatest(bool c_is_open, bool last_is_great) {
    lower_.assign(static_cast<size_t>(s_.k) + 1, 0);
    const bool by_blocks = s_.block > 1 && s_.block < s_.k && c_is_open;
    if (below_c_ || (!c_is_open && s_.block < s_.k && s_.rng.one_in(3))) {  // c, which the other steps hand on, leads
      lower_.assign(static_cast<size_t>(s_.k), shift_of(below_c_ ? 6 + below(places - 6) : 1 + below(places)));
      lower_.push_back(0);
      wanted_.back() = {normal, normal, 1};
      return make_greatest(0, s_.k, false);
    }
    for (int first = 0; first < (by_blocks ? s_.k : 1); first += s_.block) {
      const int end = by_blocks ? std::min(first + s_.block, s_.k) : s_.k;
      const bool has_c = first == 0 && c_is_open && is_live(wanted_.back());
      const bool leads = last_is_great ? end == s_.k : first == 0 || s_.coin();
      int lower = leads ? 0 : (last_is_great ? 3 : 0) + shift_of(1 + below(places));
      if (first == 0) lower_.back() = lower;
      if (has_c && wanted_.back().place == 1 && s_.rng.one_in(4)) lower += shift_of(1 + below(places));  // below c
      for (int lane = first; lane < end; ++lane) lower_[static_cast<size_t>(lane)] = lower;
      if (!(by_blocks && s_.rng.one_in(4))) make_greatest(first, end, has_c);
    }
  }

  void make_greatest(int first, int end, bool has_c) {
    for (int lane = first; lane < end; ++lane)
      if (wanted(lane).place == 1) return;
    if (has_c && wanted_.back().place == 1) return;
    const int turn = below(end - first);
    const bool c_first = has_c && s_.rng.one_in(3);
    for (int i = 0; i < end - first && !c_first; ++i) {
      Wanted& w = wanted(first + (i + turn) % (end - first));
      if (is_live(w)) return void(w.place = 1);
    }
    if (has_c) wanted_.back().place = 1;
  }

  /// The greatest exponent of a lane's block, or of c's.
  int top_of(int lane) const { return top_ - lower_[static_cast<size_t>(lane)]; }

  /// Chooses the greatest exponent. Subnormal factors, or a subnormal c, have a fixed one, which decides at times.
  int choose_top(bool solved) {
    const int turn = below(s_.k + 1);
    const int scale = scale_of(s_.any_lane());  // a statement of its own: the operands of + are evaluated in no order
    if (s_.rng.one_in(solved ? 8 : 3)) {
      for (int i = 0; i <= s_.k; ++i) {
        const int lane = (i + turn) % (s_.k + 1);
        const Wanted& w = wanted(lane);
        if (!is_live(w) || w.a != subnormal || (lane < s_.k && w.b != subnormal && s_.coin())) continue;
        const int shift = shift_of(w.place);
        if (lane == s_.k) return s_.fc.emin() + shift;
        return s_.fa.emin() + (w.b == subnormal ? s_.fb.emin() : s_.rng.between(s_.fb.emin(), s_.fb.emax())) + shift +
               scale_of(lane);
      }
    }
    // Where products have few exponents, c is far above them in some cases.
    const int few = s_.greatest_exponent() - s_.least_exponent();
    if (all_alike_ && few < s_.kept_bits && s_.coin()) return s_.greatest_exponent() + below(2);
    if (!solved && few < s_.kept_bits && is_live(wanted_.back()) && !s_.rng.one_in(4)) {
      const int cut = s_.coin() ? s_.kept_bits - s_.fa.fraction_bits - s_.fb.fraction_bits - 2 : 0;
      return s_.rng.between(s_.least_exponent() + cut, s_.greatest_exponent() + s_.kept_bits + 5) + scale;
    }
    switch (below(6)) {
      case 0: return s_.rng.between(s_.least_exponent(), s_.greatest_exponent()) + scale;
      case 1:
        return s_.coin() ? s_.fd.emin() + s_.rng.between(-s_.kept_bits - 8, 4) : s_.fd.emax() - s_.rng.between(0, 3);
      case 2: return s_.rng.between(s_.fc.emin(), s_.fc.emax());
      default: return s_.middle_exponent(s_.kept_bits / 2) + scale;
    }
  }

  int scale_of(int lane) const { return scale_.empty() ? 0 : scale_[static_cast<size_t>(lane / op_.scale_block)]; }

  uint64_t factor(const FormatFields& f, uint8_t kind, int exponent, bool negative) {
    switch (kind) {
      case zero: return f.encode_zero(negative);
      case infinity: return f.has_infinity() ? f.encode_infinity(negative) : f.encode_greatest(negative);
      case nan:
        if (f.specials == Specials::ieee && f.fraction_bits > 0 && s_.coin())  // any payload
          return f.encode_infinity(negative) | f.in_container(std::max<uint64_t>(draw_fraction(f, s_.rng), 1));
        return special_encoding(f, 2, negative);
      case subnormal: {
        const uint64_t fraction = draw_fraction(f, s_.rng);
        return encode_near(f, negative, f.emin() - 1, 0)
                   ? f.in_container(std::max<uint64_t>(fraction, 1) | (negative ? f.sign_bit() : 0))
                   : encode_near(f, negative, f.emin(), fraction);
      }
      default: {
        const uint64_t fraction = all_ones_ && !s_.rng.one_in(8) ? f.fraction_mask() : draw_fraction(f, s_.rng);
        return encode_near(f, negative, std::clamp(exponent, f.emin(), f.emax()), fraction);
      }
    }
  }

  void set_lane(int lane) {
    const Wanted& w = wanted(lane);
    const FormatFields &fa = s_.fa, &fb = s_.fb;
    int e = top_of(lane) - (is_live(w) ? shift_of(w.place) : 0) - scale_of(lane);
    if (e < s_.least_exponent() || e > s_.greatest_exponent()) {
      // Half of the time so that some of the product's bits are cut off.
      const int last = top_of(lane) - s_.kept_bits - scale_of(lane);  // of the adder
      const int low = std::max(s_.least_exponent(), last - 2),
                high = std::min(s_.greatest_exponent(), last + fa.fraction_bits + fb.fraction_bits - 1);
      e = low <= high && s_.coin() ? s_.rng.between(low, high)
                                   : s_.rng.between(s_.least_exponent(), s_.greatest_exponent());
    }
    const int ea = w.a == subnormal ? fa.emin() : w.b == subnormal ? e - fb.emin() : FactorShare(fa, fb, e).any(s_.rng);
    const bool negative_a = s_.coin();
    const bool negative_b = all_alike_ || below_c_ ? negative_a != negative_ : s_.coin();
    all_ones_ = all_alike_ && is_live(w) && w.place <= 2;
    s_.set_a(lane, factor(fa, w.a, ea, negative_a));
    s_.set_b(lane, factor(fb, w.b, e - ea, negative_b));
    all_ones_ = false;
    if (is_live(w) && (!all_alike_ || w.place > 2)) solve_cut(lane, s_.coin() ? favoured_cut_ : below(6));
  }

  /// Makes the lanes begin..end-1 of each block cancel in pairs, except for `spared` of them. False where the formats
  /// have no sign.
  bool mirror_lanes(int begin, int end, int spared, bool power_of_two = false) {
    const uint64_t sign = travelling_sign(s_.fa);
    if (!sign) return false;
    for (int first = begin; first < end; first += s_.block) {
      const int lanes = std::min(s_.block, end - first), turn = below(lanes);
      if (power_of_two) {
        const int lane = first + turn;
        const Number x = decode(s_.fa, s_.a(lane)), y = decode(s_.fb, s_.b(lane));
        if (x.cls == NumberClass::finite && y.cls == NumberClass::finite)
          s_.set_product(lane, x.negative != y.negative, x.scale_exponent + y.scale_exponent, 0, 0);
      }
      if (power_of_two && lanes % 2 == 0) s_.zero_lane(first + (lanes - 1 + turn) % lanes);  // it has no partner
      for (int i = spared; i + 1 < lanes; i += 2) {
        const int from = first + (i + turn) % lanes, to = first + (i + 1 + turn) % lanes;
        if (scale_of(from) != scale_of(to)) continue;
        s_.set_a(to, s_.a(from) ^ sign);
        s_.set_b(to, s_.b(from));
      }
    }
    return true;
  }

  /// Chooses fractions of a lane's factors so that its `cut` has level `level`. The exponents and signs stay.
  void solve_cut(int lane, int level) {
    const Number x = decode(s_.fa, s_.a(lane)), y = decode(s_.fb, s_.b(lane));
    if (x.cls != NumberClass::finite || y.cls != NumberClass::finite) return;
    const int dropped = top_of(lane) - s_.kept_bits - x.exponent - y.exponent - scale_of(lane);
    const int bits_a = s_.fa.fraction_bits, bits_b = s_.fb.fraction_bits;
    if (dropped > bits_a + bits_b + 2 && level == 1 && x.subnormal && y.subnormal) {
      s_.set_a(lane, with_low_bits(s_.fa, s_.a(lane), bits_a, 1));
      s_.set_b(lane, with_low_bits(s_.fb, s_.b(lane), bits_b, 1));
    }
    if (dropped <= 0 || dropped > bits_a + bits_b + 2) return;
    const auto significand = [](int bits, bool is_subnormal, uint64_t fraction) {
      return (fraction & low_mask(bits)) | (is_subnormal ? 0 : uint64_t{1} << bits);
    };
    for (int tries = 0; tries < 64; ++tries) {
      uint64_t p = s_.rng.next(), q = s_.rng.next();
      if (level == 0 || level == 3) {  // the product ends with this many zeros
        const int zeros = level == 0 ? dropped : dropped - 1, zeros_of_p = std::min(bits_a, below(zeros + 1));
        p = (p | 1) << zeros_of_p;
        q = (q | 1) << std::min(bits_b, zeros - zeros_of_p);
      } else if (level == 1 || level == 5) {  // the product is 1 or -1 modulo 2^dropped
        p = significand(bits_a, x.subnormal, p | 1);
        uint64_t inverse = p;  // modulo 2^64: right in 3 bits, each step of Newton's doubles them
        for (int i = 0; i < 5; ++i) inverse *= 2 - p * inverse;
        q = (level == 1 ? inverse : 0 - inverse) & low_mask(std::min(dropped, 63));
        if (dropped < bits_b) q |= s_.rng.next() << dropped;
      }
      p = significand(bits_a, x.subnormal, p);
      q = significand(bits_b, y.subnormal, q);
      if (p == 0 || q == 0 || bins::lost_class(static_cast<uint128>(p) * q, 0, dropped) != level) continue;
      s_.set_a(lane, with_low_bits(s_.fa, s_.a(lane), bits_a, p));
      s_.set_b(lane, with_low_bits(s_.fb, s_.b(lane), bits_b, q));
      return;
    }
  }
  static uint64_t with_low_bits(const FormatFields& f, uint64_t code, int bits, uint64_t significand) {
    return f.in_container((code >> f.ignored_low_bits & ~low_mask(bits)) | (significand & low_mask(bits)));
  }

  void set_c() {
    const Wanted& w = wanted_.back();
    const FormatFields& fc = s_.fc;
    const int e = top_of(s_.k) - (is_live(w) ? shift_of(w.place) : 0);
    const bool negative = all_alike_ ? negative_ : below_c_ ? !negative_ : s_.coin();
    // From a power of two that leads, small addends of the other sign make a sum of a lower exponent.
    uint64_t code = below_c_ || (w.a == normal && w.place == 1 && s_.rng.one_in(4)) ? encode_near(fc, negative, e, 0)
                                                                                    : factor(fc, w.a, e, negative);
    const Number c = decode(fc, code);
    const int dropped = top_of(s_.k) - s_.kept_bits - c.exponent;
    if (is_live(w) && dropped > 0 && fc.fraction_bits > 0) {  // the lowest bits are solved for
      const int width = std::min<int>(dropped, fc.fraction_bits);
      const uint64_t mask = low_mask(width), half = uint64_t{1} << (width - 1);
      const uint64_t draw = s_.rng.next();
      const uint64_t low[] = {0, 1, draw & (half - 1), half, half | (draw & mask), mask};
      code = fc.in_container((code >> fc.ignored_low_bits & ~mask) | (low[below(6)] & mask));
    }
    s_.set_c(code);
  }

  /// c at an end of its range.
  void set_end() {
    const FormatFields& f = s_.fc;
    const uint64_t ends[] = {0, 1, f.fraction_mask(), f.fraction_mask() + 1, f.greatest_magnitude()};
    s_.set_c(f.in_container(ends[below(5)] | (negative_ ? f.sign_bit() : 0)));
  }

  template <class Digit>
  void draw_scales(Digit digit, bool specials) {
    const FormatFields &fs = op_.scale_a.fields(), &ft = op_.scale_b.fields();
    const auto scale_of_kind = [&](const FormatFields& f, int kind) -> uint64_t {  // of bins::scale_kind
      const uint64_t one = uint64_t(f.bias) << f.fraction_bits, greatest = f.greatest_magnitude();
      switch (kind) {
        case 0: return 0;
        case 1: return one;
        case 2: return greatest;
        case 3: return specials && f.has_nan() ? f.encode_nan() : one;
        default: {  // below or above one, half of the time near it
          const uint64_t codes = kind == 4 ? one - 1 : greatest - one - 1;
          const uint64_t distance =
              1 + s_.rng.below(static_cast<uint32_t>(s_.coin() ? std::min<uint64_t>(codes, 8) : codes));
          return kind == 4 ? one - distance : one + distance;
        }
      }
    };
    const auto exponent = [](const FormatFields& f, uint64_t encoding) {
      const Number n = decode(f, encoding);
      return n.cls == NumberClass::finite ? n.scale_exponent : 0;
    };
    scale_.resize(static_cast<size_t>(op_.scales()));
    const int reference = below(op_.scales());
    // In half of the cases lanes of different blocks of scales have about the same exponent, or are as far apart as
    // places are.
    const bool alike = s_.coin(), apart = alike && s_.coin();
    int total = 0;
    for (int i = 0; i < op_.scales(); ++i) {
      const int block = (reference + i) % op_.scales();
      uint64_t first = scale_of_kind(fs, apart && i == 0 ? 2 : digit(s_.k + 2 + 2 * block) % 6);
      uint64_t second = scale_of_kind(ft, apart && i == 0 ? 2 : digit(s_.k + 3 + 2 * block) % 6);
      if (i > 0 && alike) {
        const int wanted = total - (apart ? shift_of(1 + below(places)) : 0);
        const int share = apart ? FactorShare(fs, ft, wanted, /*subnormals=*/true).any(s_.rng) : exponent(fs, first);
        if (apart) first = encode_near(fs, false, share, s_.rng.next() & fs.fraction_mask());
        second = encode_near(ft, false, std::clamp(wanted - share, ft.least_bit(), ft.emax()),
                             s_.rng.next() & ft.fraction_mask());
      }
      s_.set_scale(3, block, first);
      s_.set_scale(4, block, second);
      scale_[static_cast<size_t>(block)] = exponent(fs, first) + exponent(ft, second);
      if (i == 0) total = scale_[static_cast<size_t>(block)];
    }
  }

  const Op& op_;
  const DotModel* row_;
  WalkCase& s_;
  std::vector<Wanted> wanted_;  ///< by lane; c's at the end
  std::vector<int> scale_;      ///< by block of scales: exponent of both sides' scales together; empty: all 0
  std::vector<int> lower_;      ///< by lane, c's at the end: exponents from top_ down to the greatest of its block
  int top_ = 0;
  int favoured_cut_ = 0;                       ///< the level of `cut` that half of the lanes get
  bool negative_ = false, all_alike_ = false;  ///< all_alike_: products have one sign, negative_, and most are great
  bool all_ones_ = false;                      ///< factor() makes most fractions all ones
  bool below_c_ = false;                       ///< c is a power of two, far above products of the other sign
};

}  // namespace

void DatapathWalks::add_states() {
  const auto plain = std::make_shared<std::vector<Wanted>>(lane_states(false));
  const auto all = std::make_shared<std::vector<Wanted>>(lane_states(true));
  const int columns = op_.k + 2 + 2 * (op_.has_scales() ? op_.scales() : 0);
  const auto base = static_cast<uint64_t>(prime_from(std::max(columns, static_cast<int>(all->size()))));
  // The kinds take turns, so that a walk that ends early has seen something of each.
  static constexpr struct {
    bool specials, solved;
  } kinds[] = {{false, false}, {false, true}, {true, false}, {false, true}};
  const uint64_t kinds_of_cases = std::size(kinds), pass = base * base * kinds_of_cases;
  const uint64_t passes = op_.has_scales() ? 4 : 2;  // scales have levels of their own
  add_dot("states", {pass * passes, pass}, [=, op = op_, rows = rows_](WalkCase& s, uint64_t n) {
    const auto [specials, solved] = kinds[n % kinds_of_cases];
    // Rows of the array in an order that does not begin with those whose columns are alike.
    const uint64_t x = n / kinds_of_cases % base, y = (n / kinds_of_cases / base + 1) * 29 % base;
    const auto digit = [&](int column) { return static_cast<int>((x + y * static_cast<uint64_t>(column)) % base); };
    const DotModel* row = rows->empty() ? nullptr : &(*rows)[n / kinds_of_cases % rows->size()];
    StateCase(op, row, s).make(specials ? *all : *plain, specials, solved, digit);
  });
}

}  // namespace mmafuzz
