#include "search/gemm_moves.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "arithmetic/corner_encodings.h"

namespace mmafuzz {
namespace {

class SliceMoves {
 public:
  SliceMoves(const Op& op, const Slicing& slicing, Batch& batch, size_t index, CounterRng& rng)
      : op_(op), slicing_(slicing), rng_(rng), batch_(batch), index_(index) {}

  void any() {
    choose_line();
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
      case 13: return turn_greatest();
      case 14: return step_digit();
      case 15: return clear_blocks();
      case 16: return match_line();
      default: return align_line();
    }
  }

 private:
  /// A row of a (side 0) or a column of b.
  void choose_line() {
    side_ = rng_.below(2);
    line_ = draw(side_ == 0 ? op_.m : op_.n);
  }
  int draw(int n) { return static_cast<int>(rng_.below(static_cast<uint32_t>(n))); }
  const FormatFields& format() const { return side_ == 0 ? op_.a.fields() : op_.b.fields(); }
  int width() const { return side_ == 0 ? slicing_.widths.a : slicing_.widths.b; }
  int slices() const { return usual_slices(slicing_, width(), format().precision()); }
  int place(int line, int l) const { return side_ == 0 ? line * op_.k + l : l * op_.n + line; }
  uint64_t get(int l) const { return batch_.inputs()[side_].get(index_, place(line_, l)); }
  void set(int l, uint64_t value) {
    batch_.inputs()[side_].set(index_, place(line_, l), value & format().container_mask());
  }
  bool counts(int l) const { return decode(format(), get(l)).cls == NumberClass::finite; }

  /// Position of a greatest number of the line; -1 if all are zeros or special.
  int greatest() const {
    int best = -1, exponent = 0;
    for (int l = 0; l < op_.k; ++l) {
      if (!counts(l)) continue;
      const int e = leading_exponent(format(), get(l));
      if (best >= 0 && e <= exponent) continue;
      best = l;
      exponent = e;
    }
    return best;
  }
  /// Every |x| of the line is below 2^top; a line without numbers gets one.
  int top() {
    int at = greatest();
    if (at < 0) {
      at = draw(op_.k);
      const int exponent = rng_.between(-8, 8);
      set(at, draw_near(format(), exponent, rng_));
    }
    return leading_exponent(format(), get(at)) + 1;
  }
  /// A place other than that of a greatest number, if there is one: to move it leaves the top.
  int other_place() {
    const int at = draw(op_.k);
    return at == greatest() ? (at + 1) % op_.k : at;
  }

  void scale_line() {
    const int by = rng_.one_in(4) ? rng_.between(-1000, 1000) : rng_.between(-2 * width(), 2 * width());
    for (int l = 0; l < op_.k; ++l)
      if (counts(l)) set(l, with_exponent(format(), get(l), leading_exponent(format(), get(l)) + by));
  }
  /// A number's leading bit, or its last one, next to the edge of a slice.
  void to_boundary() {
    const int high = top(), slice = rng_.between(1, slices() + 1);
    const int near = high - slice * width() + rng_.between(-1, 1);
    const int bits = rng_.one_in(2) ? 1 : rng_.between(1, format().precision());
    const bool negative = rng_.one_in(2);
    const bool by_last = rng_.one_in(2);
    put_bits(other_place(), negative, by_last ? near + bits - 1 : near, bits);
  }
  /// A number of `bits` bits, the first and the last of them ones, whose leading bit weighs 2^exponent.
  void put_bits(int l, bool negative, int exponent, int bits) {
    const int p = format().precision();
    uint64_t fraction = rng_.one_in(3) ? low_mask(p - 1) : rng_.one_in(2) ? 0 : rng_.next() & low_mask(p - 1);
    fraction &= ~low_mask(p - bits);
    if (bits > 1) fraction |= uint64_t{1} << (p - bits);
    set(l, encode_near(format(), negative, exponent, fraction));
  }
  /// The last bit of the line one or two beyond the last slice, at its end, or a whole slice beyond.
  void exceed_slices() {
    const int end = top() - slices() * width();
    const int last = end - (rng_.one_in(4) ? rng_.between(2, width() + 1) : rng_.between(-1, 1));
    const int bits = rng_.one_in(2) ? 1 : rng_.between(1, format().precision());
    const bool negative = rng_.one_in(2);
    put_bits(other_place(), negative, last + bits - 1, bits);
  }
  /// A number becomes what the slices leave of it, or of another one.
  void to_residue() {
    const int end = top() - slices() * width(), from = draw(op_.k), to = other_place();
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
  /// Nothing of the line is left below some slice.
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
  /// Two places along k whose products cancel, or all places in pairs, down to a bit in a chosen slice: the slices
  /// before it sum to zero.
  void cancel_slices() {
    if (op_.k < 2) return;
    const int from = draw(op_.k), to = (from + 1 + draw(op_.k - 1)) % op_.k;
    if (rng_.one_in(2)) {
      oppose(from, to);
    } else {
      const int half = op_.k / 2;
      for (int l = 0; l < half; ++l) oppose(l, half + l);
      if (op_.k % 2)
        for (int i = 0; i < op_.m; ++i)
          batch_.inputs()[0].set(index_, i * op_.k + op_.k - 1, op_.a.fields().encode_zero(false));
    }
    if (rng_.one_in(4)) return;
    const Number x = decode(format(), get(to));
    if (x.cls != NumberClass::finite) return;
    const int high = top(), slice = rng_.between(1, slices() + 1);
    const int bit = high - slice * width() + draw(width()) - x.exponent;
    if (bit >= 0 && bit < format().fraction_bits) set(to, get(to) ^ format().in_container(uint64_t{1} << bit));
  }
  /// The products at one place along k become the negative ones of those at another.
  void oppose(int from, int to) {
    Column &a = batch_.inputs()[0], &b = batch_.inputs()[1];
    for (int i = 0; i < op_.m; ++i)
      a.set(index_, i * op_.k + to, a.get(index_, i * op_.k + from) ^ travelling_sign(op_.a.fields()));
    for (int j = 0; j < op_.n; ++j) b.set(index_, to * op_.n + j, b.get(index_, from * op_.n + j));
  }
  /// Another line becomes this one, its negative, or trades places with it.
  void copy_line() {
    const int lines = side_ == 0 ? op_.m : op_.n;
    if (lines < 2) return turn_greatest();
    const int other = (line_ + 1 + draw(lines - 1)) % lines;
    const bool negate = rng_.one_in(3), trade = rng_.one_in(2);
    Column& column = batch_.inputs()[side_];
    for (int l = 0; l < op_.k; ++l) {
      const uint64_t own = get(l);
      if (trade) set(l, column.get(index_, place(other, l)));
      column.set(index_, place(other, l), negate ? own ^ travelling_sign(format()) : own);
    }
  }
  /// A line of the other side becomes this one, or its negative: their product is as great as the lines' norms allow.
  void match_line() {
    if (!(op_.a == op_.b)) return copy_line();
    const int own = line_, other = draw(side_ == 0 ? op_.n : op_.m);
    const uint64_t turned = rng_.one_in(3) ? travelling_sign(format()) : 0;
    std::vector<uint64_t> numbers;
    for (int l = 0; l < op_.k; ++l) numbers.push_back(get(l));
    side_ = 1 - side_;
    line_ = other;
    for (int l = 0; l < op_.k; ++l) set(l, numbers[size_t(l)] ^ turned);
    side_ = 1 - side_;
    line_ = own;
  }
  /// Two products of every element trade places, mostly of different blocks where there are any.
  void permute_products() {
    if (op_.k < 2) return;
    const int from = draw(op_.k), block = std::max(1, slicing_.block);
    const int to = op_.k > block && rng_.one_in(2) ? (from + block) % op_.k : (from + 1 + draw(op_.k - 1)) % op_.k;
    for (const size_t side : {size_t{0}, size_t{1}}) {
      Column& column = batch_.inputs()[side];
      for (int line = 0; line < (side == 0 ? op_.m : op_.n); ++line) {
        const int x = side == 0 ? line * op_.k + from : from * op_.n + line,
                  y = side == 0 ? line * op_.k + to : to * op_.n + line;
        const uint64_t held = column.get(index_, x);
        column.set(index_, x, column.get(index_, y));
        column.set(index_, y, held);
      }
    }
  }
  /// One special number, all others finite but at times one of c.
  void one_special() {
    for (size_t side = 0; side < 3; ++side) {
      const FormatFields& f = side == 0 ? op_.a.fields() : side == 1 ? op_.b.fields() : op_.c.fields();
      Column& column = batch_.inputs()[side];
      for (int e = 0; e < column.count(); ++e)
        if (is_special(f, column.get(index_, e))) column.set(index_, e, f.encode_zero(false));
    }
    const uint64_t value = draw_special(format(), rng_);
    set(draw(op_.k), value);
    if (!rng_.one_in(4)) return;
    const uint64_t addend = draw_special(op_.c.fields(), rng_);
    batch_.inputs()[2].set(index_, draw(op_.m * op_.n), addend);
  }
  /// One block along k of the line becomes zeros, or all but one: what padding and skipped work look like.
  void clear_blocks() {
    const int block = std::clamp(slicing_.block, 1, std::max(op_.k / 2, 1)),
              first = draw((op_.k + block - 1) / block) * block;
    const bool others = rng_.one_in(3), negative = rng_.one_in(4);
    for (int l = 0; l < op_.k; ++l)
      if ((l >= first && l < first + block) != others) set(l, format().encode_zero(negative));
  }
  /// Digits as great as they can be, of one sign, in the whole row and column: what the accumulator holds at most.
  void fill_digits() {
    const int high = top(), first = rng_.between(1, slices());
    const bool all_slices = rng_.one_in(2), both = rng_.one_in(2), negative = rng_.one_in(2);
    const int changed = rng_.one_in(2) ? draw(op_.k) : -1;
    const size_t own_side = side_;
    const int own_line = line_;
    for (const size_t side : {size_t{0}, size_t{1}}) {
      if (side != own_side && !both) continue;
      side_ = side;
      line_ = side == own_side ? own_line : draw(side == 0 ? op_.m : op_.n);
      const int exponent = high - 1 - (first - 1) * width(), p = format().precision();
      const uint64_t all = low_mask(p - 1), one = all & ~low_mask(p - std::min(width(), p));
      for (int l = 0; l < op_.k; ++l) {
        uint64_t fraction = all_slices ? all : one;
        if (l == changed) fraction &= ~(uint64_t{1} << (p - std::min(width(), p)));
        set(l, encode_near(format(), negative && side == own_side, exponent, fraction));
      }
    }
  }
  /// The sign of the line's greatest number, or of all of them.
  void turn_greatest() {
    const int at = greatest();
    if (at < 0) return;
    if (rng_.one_in(2)) return set(at, get(at) ^ travelling_sign(format()));
    const bool negative = rng_.one_in(2);
    for (int l = 0; l < op_.k; ++l)
      set(l, (get(l) & ~travelling_sign(format())) | (negative ? travelling_sign(format()) : 0));
  }
  /// The last or another bit of a digit.
  void step_digit() {
    const int l = draw(op_.k);
    const Number x = decode(format(), get(l));
    if (x.cls != NumberClass::finite) return;
    const int high = top(), within = rng_.one_in(2) ? 0 : draw(width());
    const int bit = high - rng_.between(1, slices()) * width() + within - x.exponent;
    if (bit >= 0 && bit < format().fraction_bits) set(l, get(l) ^ format().in_container(uint64_t{1} << bit));
  }
  /// All numbers of the line at its greatest exponent, or a slice apart from each other.
  void align_line() {
    const int high = top(), apart = rng_.one_in(2) ? 0 : width();
    for (int l = 0; l < op_.k; ++l)
      if (counts(l)) set(l, with_exponent(format(), get(l), high - 1 - apart * (l % (slices() + 1))));
  }

  const Op& op_;
  const Slicing& slicing_;
  CounterRng& rng_;
  Batch& batch_;
  size_t index_, side_ = 0;
  int line_ = 0;
};

}  // namespace

void move_slices(const Op& op, const Slicing& slicing, Batch& batch, size_t index, CounterRng& rng) {
  SliceMoves(op, slicing, batch, index, rng).any();
}

void cross_products(const Op& op, Batch& batch, size_t index, const Batch& other, size_t other_index, CounterRng& rng) {
  const bool along_k = op.k > 1 && rng.one_in(4);
  const uint64_t places = rng.next();
  const uint64_t rows = rng.next();
  const uint64_t columns = rng.next();
  const uint64_t addends = rng.next();
  const auto is_set = [](uint64_t mask, int bit) { return (mask >> (bit & 63) & 1) != 0; };
  const auto copy = [&](size_t side, int e) {
    batch.inputs()[side].set(index, e, other.inputs()[side].get(other_index, e));
  };
  for (int e = 0; e < op.m * op.k; ++e)
    if (along_k ? is_set(places, e % op.k) : is_set(rows, e / op.k)) copy(0, e);
  for (int e = 0; e < op.k * op.n; ++e)
    if (along_k ? is_set(places, e / op.n) : is_set(columns, e % op.n)) copy(1, e);
  for (int e = 0; e < op.m * op.n; ++e)
    if (is_set(addends, e)) copy(2, e);
}

}  // namespace mmafuzz
