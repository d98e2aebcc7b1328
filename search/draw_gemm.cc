#include "search/draw_gemm.h"

#include <algorithm>
#include <bit>

#include "arithmetic/corner_encodings.h"
#include "search/mutator.h"

namespace mmafuzz {
namespace {

/// How many exponents apart the numbers of a matrix are, at most: this decides the number of slices.
int draw_spread(const FormatFields& f, CounterRng& rng) {
  switch (rng.below(6)) {
    case 0: return 0;
    case 1: return rng.between(1, 4);
    case 2: return rng.between(5, 30);
    case 3: return rng.between(31, 120);
    case 4: return f.emax() - f.emin();
    default: return rng.between(0, 60);
  }
}

/// The greatest exponent of a matrix: mostly near 0, else at an end of the range.
int draw_center(const FormatFields& f, CounterRng& rng) {
  switch (rng.below(8)) {
    case 0: return f.emax();
    case 1: return f.emin() - rng.between(-2, f.fraction_bits);
    case 2: return rng.between(f.emin(), f.emax());
    default: return rng.between(-20, 20);
  }
}

/// The sides of a product: its matrices, by column of the batch. A line is a row of a or a column of b.
constexpr size_t side_a = 0, side_b = 1, side_c = 2;

/// One case of a batch.
class ProductCase {
 protected:
  ProductCase(const Op& op, CounterRng& rng, Batch& batch, size_t index)
      : op_(op), rng_(rng), batch_(batch), index_(index) {}

  /// Uniform from 0 to n - 1.
  int below(int n) { return rng_.between(0, n - 1); }
  const FormatFields& format(size_t side) const { return op_.input_format(side).fields(); }
  int lines(size_t side) const { return side == side_a ? op_.m : op_.n; }
  /// The element at position `l` along k of a line.
  int element_at(size_t side, int line, int l) const { return side == side_a ? line * op_.k + l : l * op_.n + line; }
  int count(size_t side) const { return batch_.inputs()[side].count(); }
  uint64_t get(size_t side, int element) const { return batch_.inputs()[side].get(index_, element); }
  void set(size_t side, int element, uint64_t value) {
    batch_.inputs()[side].set(index_, element, value & format(side).container_mask());
  }
  /// The products at position `to` along k become those at position `from`, negated.
  void oppose(int from, int to) {
    for (const size_t side : {side_a, side_b}) {
      const uint64_t turned = side == side_a ? travelling_sign(format(side)) : 0;
      for (int line = 0; line < lines(side); ++line)
        set(side, element_at(side, line, to), get(side, element_at(side, line, from)) ^ turned);
    }
  }

  const Op& op_;
  CounterRng& rng_;
  Batch& batch_;
  size_t index_;
};

class GemmDraw : ProductCase {
 public:
  GemmDraw(const Op& op, CounterRng& rng, Batch& batch, size_t index) : ProductCase(op, rng, batch, index) {}

  void draw_all() {
    for (const size_t side : {side_a, side_b}) {
      const FormatFields& f = format(side);
      const int spread = draw_spread(f, rng_), center = draw_center(f, rng_);
      // A wide spread is mostly in one line. The others are narrow: they show that lines do not disturb each other, and
      // cost less.
      constexpr int wide = 30, narrow = 4;
      const int wide_line = spread > wide && !rng_.one_in(8) ? below(lines(side)) : -1;
      const bool ones = rng_.one_in(4), one_sign = rng_.one_in(3), sparse = rng_.one_in(4);
      for (int e = 0; e < count(side); ++e) {
        const bool zero = sparse ? !rng_.one_in(3) : rng_.one_in(32);
        const int line = side == side_a ? e / op_.k : e % op_.n;
        const int line_spread = wide_line < 0 || line == wide_line ? spread : narrow;
        const int exponent = center - (line_spread ? rng_.between(0, line_spread) : 0);
        const uint64_t fraction = ones ? f.fraction_mask() : draw_fraction(f, rng_);
        set(side, e,
            zero ? f.encode_zero(rng_.one_in(4)) : encode_near(f, !one_sign && rng_.one_in(2), exponent, fraction));
      }
    }
    for (int e = 0; e < count(side_c); ++e) draw_c(e);
    if (rng_.one_in(4)) cancel();
    if (rng_.one_in(8))
      for (int n = rng_.between(1, 3); n > 0; --n) set_special();
  }

  void one_move() {
    switch (rng_.below(12)) {
      case 0: return set_special();
      case 1: return cancel();
      case 2: return draw_c(below(count(side_c)));
      case 3:
        return change_line(
            [&](const FormatFields& f, uint64_t x) { return with_exponent(f, x, draw_center(f, rng_)); });
      case 4:
        return change_line([&](const FormatFields& f, uint64_t x) {
          return is_special(f, x) ? x : x | f.in_container(f.fraction_mask());
        });
      case 5: return change_line([&](const FormatFields& f, uint64_t) { return f.encode_zero(rng_.one_in(2)); });
      case 6: return change_line([&](const FormatFields& f, uint64_t x) { return x ^ travelling_sign(f); });
      case 7:
        return change_element([&](const FormatFields& f, uint64_t x) {
          return with_exponent(f, x, leading_exponent(f, x) + rng_.between(-14, 14));
        });
      case 8:
        return change_element([&](const FormatFields& f, uint64_t x) {
          return (x & ~f.in_container(f.fraction_mask())) | f.in_container(draw_fraction(f, rng_));
        });
      case 9: return change_element([&](const FormatFields& f, uint64_t) { return draw_subnormal(f); });
      case 10: return change_element([&](const FormatFields& f, uint64_t) { return f.encode_zero(rng_.one_in(2)); });
      default:
        return change_element(
            [&](const FormatFields& f, uint64_t x) { return x ^ uint64_t { 1 } << rng_.below(f.width); });
    }
  }

 private:
  uint64_t draw_subnormal(const FormatFields& f) {
    const uint64_t fraction = draw_fraction(f, rng_);
    const int exponent = f.emin() - rng_.between(0, f.fraction_bits);
    const bool negative = rng_.one_in(2);
    return encode_near(f, negative, exponent, fraction);
  }

  /// Draws element `e` of c: zero, or with an exponent from three above a product's to two precisions below it.
  void draw_c(int e) {
    const FormatFields& f = op_.c.fields();
    if (rng_.one_in(3)) return set(side_c, e, f.encode_zero(rng_.one_in(3)));
    const int row = e / op_.n, column = e % op_.n, l = below(op_.k);
    const int of_product = leading_exponent(format(side_a), get(side_a, element_at(side_a, row, l))) +
                           leading_exponent(format(side_b), get(side_b, element_at(side_b, column, l)));
    const uint64_t fraction = draw_fraction(f, rng_);
    const int exponent = of_product - rng_.between(-3, 2 * f.precision());
    const bool negative = rng_.one_in(2);
    set(side_c, e, encode_near(f, negative, exponent, fraction));
  }

  void set_special() {
    const size_t side = rng_.below(3);
    const uint64_t value = draw_special(format(side), rng_);
    set(side, below(count(side)), value);
  }

  /// The products at two positions along k cancel in every element of the result; half of the time one low bit of a
  /// random element of a or b is flipped then.
  void cancel() {
    if (op_.k < 2) return;
    const int from = below(op_.k), to = (from + 1 + below(op_.k - 1)) % op_.k;
    oppose(from, to);
    if (rng_.one_in(2)) change_element([&](const FormatFields& f, uint64_t x) { return x ^ f.in_container(1); });
  }

  template <class Change>
  void change_element(const Change& change) {
    const size_t side = rng_.below(2);
    const int e = below(count(side));
    set(side, e, change(format(side), get(side, e)));
  }

  /// Changes each element of a line.
  template <class Change>
  void change_line(const Change& change) {
    const size_t side = rng_.below(2);
    const int line = below(lines(side));
    for (int l = 0; l < op_.k; ++l) {
      const int e = element_at(side, line, l);
      set(side, e, change(format(side), get(side, e)));
    }
  }
};

/// Moves that depend on how a scheme cuts the matrices into slices of digits (docs/ozaki.md): a line's last bit just
/// beyond the slices, a number at the edge of a slice or in what is left below the last one, full digits, cancellation
/// between slices, lines copied and permuted, one special number among plain ones. A move changes one line, which is
/// drawn for it.
class SliceMoves : ProductCase {
 public:
  SliceMoves(const Op& op, const Slicing& slicing, CounterRng& rng, Batch& batch, size_t index)
      : ProductCase(op, rng, batch, index), slicing_(slicing) {}

  void one_move() {
    side_ = rng_.below(2);
    line_ = below(lines(side_));
    switch (rng_.below(18)) {
      case 0: return scale_line();
      case 1:
      case 2: return to_boundary();
      case 3:
      case 4: return exceed_slices();
      case 5: return to_residue();
      case 6: return drop_below();
      case 7:
      case 8: return cancel_slices();
      case 9: return copy_line();
      case 10: return permute_products();
      case 11: return one_special();
      case 12: return fill_digits();
      case 13: return change_signs();
      case 14: return flip_digit_bit();
      case 15: return clear_blocks();
      case 16: return match_line();
      default: return align_line();
    }
  }

 private:
  using ProductCase::format, ProductCase::get, ProductCase::set;
  const FormatFields& format() const { return format(side_); }
  int width() const { return side_ == side_a ? slicing_.widths.a : slicing_.widths.b; }
  int slices() const { return usual_slices(slicing_, width(), format().precision()); }
  uint64_t get(int l) const { return get(side_, element_at(side_, line_, l)); }
  void set(int l, uint64_t value) { set(side_, element_at(side_, line_, l), value); }
  bool is_finite_nonzero(int l) const { return decode(format(), get(l)).cls == NumberClass::finite; }

  /// Position of a greatest number of the line; -1 if all are zeros or special.
  int greatest() const {
    int best = -1, exponent = 0;
    for (int l = 0; l < op_.k; ++l) {
      if (!is_finite_nonzero(l)) continue;
      const int e = leading_exponent(format(), get(l));
      if (best >= 0 && e <= exponent) continue;
      best = l;
      exponent = e;
    }
    return best;
  }
  /// The least t for which every |x| of the line is below 2^t. A line without nonzero finite numbers gets one.
  int top() {
    int position = greatest();
    if (position < 0) {
      position = below(op_.k);
      const int exponent = rng_.between(-8, 8);
      set(position, draw_near(format(), exponent, rng_));
    }
    return leading_exponent(format(), get(position)) + 1;
  }
  /// A random position along k, mostly not that of greatest(), so that a change there leaves top() as it is.
  int not_the_greatest() {
    const int position = below(op_.k);
    return position == greatest() ? (position + 1) % op_.k : position;
  }

  void scale_line() {
    // Far, over most of fp64's range, or by up to two slices.
    const int shift = rng_.one_in(4) ? rng_.between(-1000, 1000) : rng_.between(-2 * width(), 2 * width());
    for (int l = 0; l < op_.k; ++l)
      if (is_finite_nonzero(l)) set(l, with_exponent(format(), get(l), leading_exponent(format(), get(l)) + shift));
  }
  /// Puts a number's leading bit, or its last one, next to the edge of a slice.
  void to_boundary() {
    const int high = top(), slice = rng_.between(1, slices() + 1);
    const int edge = high - slice * width() + rng_.between(-1, 1);
    const int bits = rng_.one_in(2) ? 1 : rng_.between(1, format().precision());
    const bool negative = rng_.one_in(2);
    const bool from_last = rng_.one_in(2);
    put_bits(not_the_greatest(), negative, from_last ? edge + bits - 1 : edge, bits);
  }
  /// Writes a number of `bits` bits, the first and the last of them ones, whose leading bit weighs 2^exponent.
  void put_bits(int l, bool negative, int exponent, int bits) {
    const int p = format().precision();
    uint64_t fraction = rng_.one_in(3) ? low_mask(p - 1) : rng_.one_in(2) ? 0 : rng_.next() & low_mask(p - 1);
    fraction &= ~low_mask(p - bits);
    if (bits > 1) fraction |= uint64_t{1} << (p - bits);
    set(l, encode_near(format(), negative, exponent, fraction));
  }
  /// Puts the last bit of a number at the end of the last slice, one bit to either side, or up to a slice beyond.
  void exceed_slices() {
    const int end = top() - slices() * width();
    const int last = end - (rng_.one_in(4) ? rng_.between(2, width() + 1) : rng_.between(-1, 1));
    const int bits = rng_.one_in(2) ? 1 : rng_.between(1, format().precision());
    const bool negative = rng_.one_in(2);
    put_bits(not_the_greatest(), negative, last + bits - 1, bits);
  }
  /// A number becomes what another number, or itself, has below the last slice.
  void to_residue() {
    const int end = top() - slices() * width(), from = below(op_.k), to = not_the_greatest();
    const Number x = decode(format(), get(from));
    if (x.cls != NumberClass::finite) return;
    const int cut = end - x.exponent;
    const uint64_t left = cut <= 0 ? 0 : cut >= 64 ? x.significand : x.significand & low_mask(cut);
    if (left == 0) {
      const bool negative = rng_.one_in(2);
      const int bits = rng_.between(1, width());
      return put_bits(to, negative, end - 1, bits);
    }
    const int length = static_cast<int>(std::bit_width(left)), p = format().precision();
    set(to, encode_near(format(), x.negative, x.exponent + length - 1, (left << (p - length)) & low_mask(p - 1)));
  }
  /// Clears all bits of the line below some slice.
  void drop_below() {
    const int high = top();
    const int end = high - rng_.between(1, slices()) * width();
    for (int l = 0; l < op_.k; ++l) {
      const Number x = decode(format(), get(l));
      if (x.cls != NumberClass::finite) continue;
      const int cut = end - x.exponent;
      if (cut <= 0) continue;
      if (cut >= 64 || x.significand >> cut == 0) set(l, format().encode_zero(x.negative));
      else set(l, get(l) & ~format().in_container(low_mask(std::min(cut, static_cast<int>(format().fraction_bits)))));
    }
  }
  /// The products at two positions along k cancel, or at all positions in pairs, down to a bit in a chosen slice: the
  /// slices before it sum to zero.
  void cancel_slices() {
    if (op_.k < 2) return;
    const int from = below(op_.k), to = (from + 1 + below(op_.k - 1)) % op_.k;
    if (rng_.one_in(2)) {
      oppose(from, to);
    } else {
      const int half = op_.k / 2;
      for (int l = 0; l < half; ++l) oppose(l, half + l);
      if (op_.k % 2)
        for (int row = 0; row < op_.m; ++row)
          set(side_a, element_at(side_a, row, op_.k - 1), format(side_a).encode_zero(false));
    }
    if (rng_.one_in(4)) return;
    const Number x = decode(format(), get(to));
    if (x.cls != NumberClass::finite) return;
    const int high = top(), slice = rng_.between(1, slices() + 1);
    const int bit = high - slice * width() + below(width()) - x.exponent;
    if (bit >= 0 && bit < format().fraction_bits) set(to, get(to) ^ format().in_container(uint64_t{1} << bit));
  }
  /// Another line becomes a copy of this one, its negative, or the two are exchanged.
  void copy_line() {
    const int count = lines(side_);
    if (count < 2) return change_signs();
    const int other_line = (line_ + 1 + below(count - 1)) % count;
    const uint64_t turned = rng_.one_in(3) ? travelling_sign(format()) : 0;
    const bool exchange = rng_.one_in(2);
    for (int l = 0; l < op_.k; ++l) {
      const uint64_t value = get(l);
      const int other = element_at(side_, other_line, l);
      if (exchange) set(l, get(side_, other));
      set(side_, other, value ^ turned);
    }
  }
  /// A line of the other matrix becomes this one, or its negative: their product is as great as the lines' norms allow.
  void match_line() {
    if (!(op_.a == op_.b)) return copy_line();
    const size_t other_side = 1 - side_;
    const int other_line = below(lines(other_side));
    const uint64_t turned = rng_.one_in(3) ? travelling_sign(format()) : 0;
    for (int l = 0; l < op_.k; ++l) set(other_side, element_at(other_side, other_line, l), get(l) ^ turned);
  }
  /// Exchanges two positions along k in every element, often of different blocks where there are any.
  void permute_products() {
    if (op_.k < 2) return;
    const int from = below(op_.k), block = std::max(1, slicing_.block);
    const int to = op_.k > block && rng_.one_in(2) ? (from + block) % op_.k : (from + 1 + below(op_.k - 1)) % op_.k;
    for (const size_t side : {side_a, side_b})
      for (int line = 0; line < lines(side); ++line)
        swap_elements(batch_.inputs()[side], index_, element_at(side, line, from), element_at(side, line, to));
  }
  /// One special number; all others are finite, but for one of c at times.
  void one_special() {
    for (const size_t side : {side_a, side_b, side_c})
      for (int e = 0; e < count(side); ++e)
        if (is_special(format(side), get(side, e))) set(side, e, format(side).encode_zero(false));
    const uint64_t value = draw_special(format(), rng_);
    set(below(op_.k), value);
    if (!rng_.one_in(4)) return;
    const uint64_t addend = draw_special(format(side_c), rng_);
    set(side_c, below(count(side_c)), addend);
  }
  /// One block along k of the line becomes zeros, or all blocks but one: as padding and skipped work look.
  void clear_blocks() {
    const int block = std::clamp(slicing_.block, 1, std::max(op_.k / 2, 1)),
              first = below((op_.k + block - 1) / block) * block;
    const bool others = rng_.one_in(3), negative = rng_.one_in(4);
    for (int l = 0; l < op_.k; ++l)
      if ((l >= first && l < first + block) != others) set(l, format().encode_zero(negative));
  }
  /// The greatest digits, of one sign, in the whole line and at times in one of the other matrix: the greatest sums
  /// that the accumulator must hold.
  void fill_digits() {
    const int high = top(), first = rng_.between(1, slices());
    const bool all_slices = rng_.one_in(2), both = rng_.one_in(2), negative = rng_.one_in(2);
    const int not_full = rng_.one_in(2) ? below(op_.k) : -1;  // the digit there lacks its last bit
    const size_t drawn_side = side_;
    const int drawn_line = line_;
    for (const size_t side : {side_a, side_b}) {
      if (side != drawn_side && !both) continue;
      side_ = side;
      line_ = side == drawn_side ? drawn_line : below(lines(side));
      const int exponent = high - 1 - (first - 1) * width(), p = format().precision();
      const int behind_digit = p - std::min(width(), p);
      for (int l = 0; l < op_.k; ++l) {
        uint64_t fraction = low_mask(p - 1);
        if (!all_slices) fraction &= ~low_mask(behind_digit);
        if (l == not_full) fraction &= ~(uint64_t{1} << behind_digit);
        set(l, encode_near(format(), negative && side == drawn_side, exponent, fraction));
      }
    }
  }
  /// Negates the line's greatest number, or gives all of its numbers one sign.
  void change_signs() {
    const int position = greatest();
    if (position < 0) return;
    if (rng_.one_in(2)) return set(position, get(position) ^ travelling_sign(format()));
    const bool negative = rng_.one_in(2);
    for (int l = 0; l < op_.k; ++l)
      set(l, (get(l) & ~travelling_sign(format())) | (negative ? travelling_sign(format()) : 0));
  }
  /// Flips the last or another bit of a digit.
  void flip_digit_bit() {
    const int l = below(op_.k);
    const Number x = decode(format(), get(l));
    if (x.cls != NumberClass::finite) return;
    const int high = top(), within = rng_.one_in(2) ? 0 : below(width());
    const int bit = high - rng_.between(1, slices()) * width() + within - x.exponent;
    if (bit >= 0 && bit < format().fraction_bits) set(l, get(l) ^ format().in_container(uint64_t{1} << bit));
  }
  /// Puts all numbers of the line at its greatest exponent, or a slice apart from each other.
  void align_line() {
    const int high = top(), apart = rng_.one_in(2) ? 0 : width();
    for (int l = 0; l < op_.k; ++l)
      if (is_finite_nonzero(l)) set(l, with_exponent(format(), get(l), high - 1 - apart * (l % (slices() + 1))));
  }

  const Slicing& slicing_;
  size_t side_ = 0;
  int line_ = 0;
};

}  // namespace

void draw_gemm(const Op& op, CounterRng& rng, Batch& batch, size_t index) {
  GemmDraw(op, rng, batch, index).draw_all();
}

void move_gemm(const Op& op, const Slicing& slicing, Batch& batch, size_t index, CounterRng& rng) {
  if (rng.one_in(2)) return SliceMoves(op, slicing, rng, batch, index).one_move();
  GemmDraw(op, rng, batch, index).one_move();
}

void cross_products(const Op& op, Batch& batch, size_t index, const Batch& other, size_t other_index, CounterRng& rng) {
  const bool along_k = op.k > 1 && rng.one_in(4);
  const uint64_t positions = rng.next();
  const uint64_t rows = rng.next();
  const uint64_t columns = rng.next();
  const uint64_t addends = rng.next();
  const auto is_set = [](uint64_t mask, int bit) { return (mask >> (bit & 63) & 1) != 0; };
  const auto copy = [&](size_t side, int e) {
    batch.inputs()[side].set(index, e, other.inputs()[side].get(other_index, e));
  };
  for (int e = 0; e < op.m * op.k; ++e)
    if (along_k ? is_set(positions, e % op.k) : is_set(rows, e / op.k)) copy(side_a, e);
  for (int e = 0; e < op.k * op.n; ++e)
    if (along_k ? is_set(positions, e / op.n) : is_set(columns, e % op.n)) copy(side_b, e);
  for (int e = 0; e < op.m * op.n; ++e)
    if (is_set(addends, e)) copy(side_c, e);
}

}  // namespace mmafuzz
