#include "search/mutator.h"

#include <algorithm>

#include "arithmetic/corner_encodings.h"
#include "arithmetic/ieee_operations.h"
#include "search/aligned_term.h"
#include "search/draw_gemm.h"
#include "search/integer_dot.h"

namespace mmafuzz {
namespace {

/// The exponents of one case's addends by position (products 0..k-1, then c), and the position of the greatest one.
struct AddendExponents {
  std::vector<int> exponent;
  int greatest = -1;
};

/// The moves of a dot of floating-point numbers. Addends are counted from 0: the k products, then c at position k.
/// `known` may hold the exponents that the case has before the move, which are then read throughout it; nullptr: they
/// are computed when they are read.
class DotMoves {
 public:
  DotMoves(const Op& op, const CornerHints& hints, Batch& batch, size_t index, CounterRng& rng,
           const AddendExponents* known = nullptr, DotMove left_out = DotMove::none)
      : known_(known), left_out_(left_out), op_(op), hints_(hints), rng_(rng), index_(index), batch_(batch) {}

  AddendExponents exponents() const {
    AddendExponents all;
    for (int i = 0; i <= op_.k; ++i) all.exponent.push_back(exponent_or_none(i));
    all.greatest = greatest();
    return all;
  }

  void one_move() {
    switch (rng_.below(28)) {
      case 0:
      case 1:
      case 2: return shift_to_limit();
      case 3:
      case 4: return cancel();
      case 5: return set_fraction();
      case 6:
      case 7: return step_ulp();
      case 8:
      case 9: return rng_.one_in(16) ? edge_of_least_result() : tie_output();
      case 10:
      case 11: return to_exponent(hints_.floor + rng_.between(-3, 3));
      case 12:
        return to_exponent(rng_.one_in(2) ? fd_.emax() + rng_.between(-6, 3)
                                          : fd_.emin() + rng_.between(-fd_.fraction_bits - 3, 3));
      case 13: return set_special();
      case 14: return set_low_bits();
      case 15: return op_.has_scales() ? change_scale() : step_ulp();
      case 16: return copy_addend();
      case 17: return swap_or_negate();
      case 18: return clear();
      case 19: return fill_block();
      case 20: return rotate();
      case 21: return change_bits();
      case 22: return shift_one();
      case 23: return left_out_ == DotMove::solve_sum ? step_ulp() : solve_sum();
      case 24: return left_out_ == DotMove::ramp ? step_ulp() : ramp();
      case 25: return left_out_ == DotMove::redraw_fractions ? step_ulp() : redraw_fractions();
      case 26: return left_out_ == DotMove::unbalance ? step_ulp() : unbalance();
      default: return zero_beside_huge();
    }
  }

 private:
  int any_product() { return rng_.between(0, op_.k - 1); }
  int any_addend() { return rng_.between(0, op_.k); }
  int block_size() const { return std::max(1, std::min(hints_.block, op_.k)); }
  uint64_t a(int i) const { return a_.get(index_, i); }
  uint64_t b(int i) const { return b_.get(index_, i); }
  uint64_t c() const { return c_.get(index_); }
  void set_a(int i, uint64_t v) { a_.set(index_, i, v); }
  void set_b(int i, uint64_t v) { b_.set(index_, i, v); }
  void set_c(uint64_t v) { c_.set(index_, 0, v); }

  static constexpr int no_exponent = INT32_MIN / 4;
  /// The exponent that an aligning adder reads, without the scales; no_exponent for zeros, infinities and NaNs.
  int exponent_or_none(int i) const {
    if (known_) return known_->exponent[static_cast<size_t>(i)];
    if (i == op_.k) return exponent_of(fc_, c());
    const int x = exponent_of(fa_, a(i)), y = exponent_of(fb_, b(i));
    return x == no_exponent || y == no_exponent ? no_exponent : x + y;
  }
  static int exponent_of(const FormatFields& f, uint64_t encoding) {
    const uint64_t code = encoding >> f.ignored_low_bits;
    const int field = static_cast<int>((code >> f.fraction_bits) & static_cast<uint64_t>(f.top_exponent_field()));
    const uint64_t fraction = code & f.fraction_mask();
    if (field == 0) return fraction ? f.emin() : no_exponent;
    return field == f.top_exponent_field() && is_special(f, encoding) ? no_exponent : field - f.bias;
  }
  bool is_dead(int i) const { return exponent_or_none(i) == no_exponent; }
  /// The same, but 0 for zeros, infinities and NaNs.
  int exponent(int i) const {
    const int e = exponent_or_none(i);
    return e == no_exponent ? 0 : e;
  }
  /// Gives an addend an exponent of about e; zeros, infinities and NaNs become numbers with patterned fractions.
  void set_exponent(int i, int e) {
    if (i == op_.k) {
      set_c(is_dead(i) ? draw_near(fc_, e, rng_) : with_exponent(fc_, c(), e));
      return;
    }
    // The factors share the exponent where their formats hold it, nearly in halves or as it was.
    const int slack = rng_.between(-2, 2);
    int ea = rng_.one_in(2) ? leading_exponent(fa_, a(i)) : e / 2 + slack;
    ea = FactorShare(fa_, fb_, e, true).nearest(ea);
    if (is_dead(i)) {
      set_a(i, draw_near(fa_, ea, rng_));
      set_b(i, draw_near(fb_, e - ea, rng_));
    } else {
      set_a(i, with_exponent(fa_, a(i), ea));
      set_b(i, with_exponent(fb_, b(i), e - ea));
    }
  }
  /// Makes product i plus or minus 2^e.
  void set_power(int i, bool negative, int e) {
    const int ea = FactorShare(fa_, fb_, e, true).nearest(e / 2);
    set_a(i, encode_near(fa_, negative, ea, 0));
    set_b(i, encode_near(fb_, false, e - ea, 0));
  }
  /// Position of the addend with the greatest exponent; k (c) if no addend has one.
  int greatest() const {
    if (known_) return known_->greatest;
    int best = op_.k, greatest = exponent_or_none(op_.k);
    for (int i = 0; i < op_.k; ++i) {
      const int e = exponent_or_none(i);
      if (e <= greatest) continue;
      best = i;
      greatest = e;
    }
    return best;
  }

  void shift_to_limit() {
    const int top = greatest(), f = hints_.fraction_bits;
    const int shift = rng_.one_in(4) ? rng_.between(0, 16) : f + rng_.between(-2, 2);
    int i = any_addend();
    if (i == top) i = (i + 1) % (op_.k + 1);
    set_exponent(i, exponent(top) - shift);
    if (rng_.one_in(2)) all_ones(i);
  }
  void all_ones(int i) {
    if (i == op_.k) {
      set_c(c() | fc_.in_container(fc_.fraction_mask()));
    } else {
      set_a(i, a(i) | fa_.in_container(fa_.fraction_mask()));
      if (rng_.one_in(2)) set_b(i, b(i) | fb_.in_container(fb_.fraction_mask()));
    }
    tame(i);
  }
  /// Replaces the infinities and NaNs that the new fraction bits have made by the greatest number.
  void tame(int i) {
    const auto finite = [](const FormatFields& f, uint64_t v) {
      return is_special(f, v) ? f.encode_greatest(decode(f, v).negative) : v;
    };
    if (i == op_.k) return set_c(finite(fc_, c()));
    set_a(i, finite(fa_, a(i)));
    set_b(i, finite(fb_, b(i)));
  }
  void shift_one() {
    const int i = any_addend();
    set_exponent(i, exponent(i) + rng_.between(-3, 3));
  }
  /// c or another product becomes minus a product, exactly or but for one bit of the fraction.
  void cancel() {
    const int i = any_product();
    if (rng_.one_in(2)) {
      Exact p = exact_product(fa_, a(i), fb_, b(i));
      if (p.cls != NumberClass::finite) return;
      p.negative = !p.negative;
      uint64_t value =
          round_exact(fc_, p, {.rounding = Rounding::toward_zero, .overflow = Overflow::saturate}).encoding;
      if (rng_.one_in(2)) value ^= fc_.in_container(uint64_t{1} << rng_.below(uint32_t(fc_.fraction_bits) + 1));
      set_c(value);
    } else {
      const int j = any_product();
      if (i == j) return;
      set_a(j, a(i) ^ travelling_sign(fa_));
      set_b(j, b(i));
      if (rng_.one_in(2)) set_a(j, a(j) ^ fa_.in_container(uint64_t{1} << rng_.below(uint32_t(fa_.fraction_bits) + 1)));
    }
  }
  /// Replaces c, or one factor of a product, by changed(format, encoding).
  template <class Changed>
  void change_operand(const Changed& changed) {
    const int i = any_addend();
    if (i == op_.k) set_c(changed(fc_, c()));
    else if (rng_.one_in(2)) set_a(i, changed(fa_, a(i)));
    else set_b(i, changed(fb_, b(i)));
  }
  void set_fraction() {
    change_operand([&](const FormatFields& f, uint64_t v) {
      return (v & ~f.in_container(f.fraction_mask())) | f.in_container(draw_fraction(f, rng_));
    });
  }
  void step_ulp() {
    change_operand([&](const FormatFields& f, uint64_t v) {
      const uint64_t sign = v & travelling_sign(f), magnitude = v & ~travelling_sign(f) & f.container_mask();
      const uint64_t step =
          f.in_container(uint64_t{1} << (rng_.one_in(4) ? rng_.below(uint32_t(f.fraction_bits) + 1) : 0));
      const uint64_t limit = f.container_mask() & ~travelling_sign(f);
      return rng_.one_in(2)      ? (magnitude + step <= limit ? sign | (magnitude + step) : v)
             : magnitude >= step ? sign | (magnitude - step)
                                 : v;
    });
  }
  /// One product becomes half an ulp of the result, estimated from the greatest addend; a tiny one may join it.
  void tie_output() {
    const int top = greatest();
    if (is_dead(top)) return;
    const int e = exponent(top) + rng_.between(-1, 4);
    const int half = std::max(e, fd_.emin()) - fd_.fraction_bits - 1;
    const bool negative = rng_.next() & 1;
    int i = any_product();
    if (i == top) i = (i + 1) % op_.k;
    set_power(i, negative, half);
    if (rng_.one_in(2)) {
      int j = any_product();
      if (j == top || j == i) return;
      const int power = half - rng_.between(1, 6);
      const bool negative_power = rng_.next() & 1;
      set_power(j, negative_power, power);
    }
  }
  /// All addends become zero but two products: one is the least result or half of it, the other is about the last bit
  /// that is kept above the alignment floor. So the last bit of the result shows where the floor is.
  void edge_of_least_result() {
    clear_products([](int) { return true; });
    set_c(fc_.encode_zero(false));
    const int first = any_product(), second = first + 1 < op_.k ? first + 1 : 0;
    const bool negative = rng_.next() & 1, negative_rest = rng_.next() & 1;
    const int rest = hints_.floor - hints_.fraction_bits + rng_.between(-3, 9);
    set_power(first, negative, fd_.least_bit() - rng_.between(0, 1));
    if (second != first) set_power(second, negative_rest, rest);
  }
  /// Moves all addends by the same number of exponents, so that the greatest becomes e; or those of one block; or gives
  /// one addend the exponent e.
  void to_exponent(int e) {
    if (op_.has_scales() && rng_.one_in(2)) return scales_to_exponent(e);
    const int top = greatest();
    if (is_dead(top)) return set_exponent(any_addend(), e);
    const int shift = e - exponent(top);
    const int block = block_size();
    switch (rng_.below(4)) {
      case 0: return set_exponent(any_addend(), e);
      case 1: {
        const int first = rng_.between(0, (op_.k + block - 1) / block - 1) * block;
        for (int i = first; i < std::min(first + block, op_.k); ++i)
          if (!is_dead(i)) set_exponent(i, exponent(i) + shift);
        return;
      }
      default:
        for (int i = 0; i <= op_.k; ++i)
          if (!is_dead(i)) set_exponent(i, exponent(i) + shift);
        if (rng_.one_in(4)) set_c(fc_.encode_zero(rng_.next() & 1));
    }
  }
  void set_special() {
    change_operand([&](const FormatFields& f, uint64_t) { return draw_special(f, rng_); });
  }
  /// Sets bits that the format ignores, at times those of an infinity.
  void set_low_bits() {
    const auto noisy = [&](const FormatFields& f, uint64_t v) {
      const uint64_t mask = low_mask(f.ignored_low_bits);
      const uint64_t low = rng_.below(4) == 0 ? 0
                           : rng_.one_in(3)   ? mask
                           : rng_.one_in(2)   ? (mask >> 1) + 1
                                              : rng_.next() & mask;
      if (rng_.one_in(8)) v = f.encode_infinity(rng_.next() & 1);
      return (v & ~mask) | low;
    };
    const int i = any_product();
    if (fa_.ignored_low_bits == 0) return step_ulp();
    if (rng_.one_in(2)) set_a(i, noisy(fa_, a(i)));
    else set_b(i, noisy(fb_, b(i)));
  }
  void change_scale() {
    const size_t column = rng_.one_in(2) ? 3 : 4;
    const FormatFields& f = op_.input_format(column).fields();
    const int i = rng_.between(0, op_.scales() - 1);
    uint64_t scale = batch_.inputs()[column].get(index_, i);
    switch (rng_.below(8)) {
      case 0: scale = 0; break;
      case 1: scale = uint64_t(f.bias) << f.fraction_bits; break;
      case 2: scale = f.greatest_magnitude(); break;
      case 3: scale = f.encode_nan(); break;
      case 4: scale = rng_.next(); break;
      default: {
        const auto steps = static_cast<uint64_t>(int64_t{rng_.between(-2, 2)});
        scale += steps << (rng_.one_in(2) ? f.fraction_bits : 0);
        break;
      }
    }
    batch_.inputs()[column].set(index_, i, scale & f.container_mask());
  }
  /// The product of both sides' scales becomes about 2^e, alone or together with the greatest product's elements; in
  /// all blocks of scales or in one.
  void scales_to_exponent(int e) {
    const FormatFields &fa = op_.scale_a.fields(), &fb = op_.scale_b.fields();
    const int top = greatest();
    if (rng_.one_in(2) && top < op_.k) e -= exponent(top);
    const int only = rng_.one_in(4) ? rng_.between(0, op_.scales() - 1) : -1;
    for (int i = 0; i < op_.scales(); ++i) {
      if (only >= 0 && i != only) continue;
      const int ea = std::clamp(e / 2 + rng_.between(-3, 3), fa.least_bit(), fa.emax());
      batch_.inputs()[3].set(index_, i, with_exponent(fa, batch_.scale_a().get(index_, i), ea));
      batch_.inputs()[4].set(index_, i, with_exponent(fb, batch_.scale_b().get(index_, i), e - ea));
    }
    if (rng_.one_in(2)) set_c(fc_.encode_zero(rng_.next() & 1));
  }
  void copy_addend() {
    const int i = any_product();
    const int copies = rng_.one_in(3) ? op_.k : 1;
    for (int n = 0; n < copies; ++n) {
      const int j = copies == 1 ? any_product() : n;
      set_a(j, a(i));
      set_b(j, b(i));
    }
  }
  void swap_or_negate() {
    const int i = any_addend(), j = any_product();
    if (i == op_.k) return set_c(c() ^ travelling_sign(fc_));
    if (rng_.one_in(2)) return set_a(i, a(i) ^ travelling_sign(fa_));
    swap_elements(a_, index_, i, j);
    swap_elements(b_, index_, i, j);
  }
  /// Zeroes both factors of the products i for which chosen(i).
  template <class Chosen>
  void clear_products(const Chosen& chosen) {
    for (int i = 0; i < op_.k; ++i)
      if (chosen(i)) {
        set_a(i, fa_.encode_zero(false));
        set_b(i, fb_.encode_zero(false));
      }
  }
  /// Zeroes a product, c, or all products but two.
  void clear() {
    const int first = any_product(), second = any_product();
    switch (rng_.below(4)) {
      case 0: return set_c(fc_.encode_zero(rng_.one_in(3)));
      case 1: return clear_products([&](int i) { return i != first && i != second; });
      default:
        set_a(first, fa_.encode_zero(rng_.one_in(4)));
        if (rng_.one_in(2)) set_b(first, fb_.encode_zero(false));
    }
  }
  /// Products of one sign at the greatest exponent, for the longest carries; all ones or with patterned fractions.
  void fill_block() {
    const int top = greatest();
    const int e = is_dead(top) ? rng_.between(-4, 4) : exponent(top);
    const bool negative = rng_.next() & 1, ones = rng_.one_in(2);
    const int count = rng_.one_in(2) ? op_.k : rng_.between(2, std::max(2, op_.k));
    for (int i = 0; i < std::min(count, op_.k); ++i) {
      const int ea = FactorShare(fa_, fb_, e).nearest(e / 2);
      set_a(i, encode_near(fa_, negative, ea, ones ? fa_.fraction_mask() : draw_fraction(fa_, rng_)));
      set_b(i, encode_near(fb_, false, e - ea, ones ? fb_.fraction_mask() : draw_fraction(fb_, rng_)));
    }
    if (rng_.one_in(2)) set_c(encode_near(fc_, negative, e + rng_.between(0, 2), fc_.fraction_mask()));
  }
  void rotate() {
    const int block = block_size();
    const int shift = rng_.one_in(2) ? block : 1 + any_product();
    for (Column* column : {&a_, &b_}) {
      std::vector<uint64_t> values(static_cast<size_t>(op_.k));
      column->unpack(index_, values.data());
      std::rotate(values.begin(), values.begin() + shift % op_.k, values.end());
      column->pack(index_, values.data());
    }
  }
  void change_bits() {
    change_operand([&](const FormatFields& f, uint64_t v) {
      return (rng_.one_in(2) ? v ^ (uint64_t{1} << rng_.below(f.width)) : rng_.next()) & f.container_mask();
    });
  }
  /// A zero product, mostly with a huge other factor.
  void zero_beside_huge() {
    const int i = any_product();
    set_a(i, fa_.encode_zero(rng_.next() & 1));
    if (rng_.one_in(3)) return set_b(i, fb_.encode_zero(rng_.next() & 1));
    const uint64_t fraction = draw_fraction(fb_, rng_);
    const int exponent = fb_.emax() - rng_.between(0, 2);
    const bool negative = rng_.next() & 1;
    set_b(i, encode_near(fb_, negative, exponent, fraction));
  }

  /// c takes the sum of the first block, as an aligning adder makes it, to a power of two or one unit beside it.
  void solve_sum() {
    const int block = block_size(), f = hints_.fraction_bits;
    int top = no_exponent;
    for (int i = 0; i < block; ++i) top = std::max(top, exponent_or_none(i));
    if (top == no_exponent) return step_ulp();
    int64_t sum = 0;
    for (int i = 0; i < block; ++i) {
      const Exact p = exact_product(fa_, a(i), fb_, b(i));
      if (!is_number(p.cls)) return step_ulp();
      if (p.cls == NumberClass::finite) sum += aligned_term(p, top - f);
    }
    int64_t target = int64_t{1} << rng_.below(static_cast<uint32_t>(std::min(f + 4, max_aligned_bits)));
    target += rng_.between(-1, 1);
    if (rng_.one_in(2)) target = -target;
    set_c(encode_units(fc_, target - sum, top - f));
  }
  /// Exponents that rise or fall by one or two from lane to lane.
  void ramp() {
    const int step = rng_.between(1, 2), first = exponent(any_product());
    const bool up = rng_.one_in(2);
    for (int i = 0; i < op_.k; ++i) set_exponent(up ? i : op_.k - 1 - i, first + step * (i - op_.k / 2));
  }
  void redraw_fractions() {
    const auto redrawn = [&](const FormatFields& f, uint64_t v) {
      const uint64_t mask = f.in_container(f.fraction_mask());
      return (v & ~mask) | (f.in_container(rng_.next() & f.fraction_mask()) & mask);
    };
    for (int i = 0; i < op_.k; ++i) {
      if (is_dead(i)) continue;
      set_a(i, redrawn(fa_, a(i)));
      set_b(i, redrawn(fb_, b(i)));
      tame(i);
    }
  }
  /// One product, or each, gets one factor with a large and one with a small exponent; the product's exponent stays.
  void unbalance() {
    const bool all = rng_.one_in(2), a_large = rng_.one_in(2);
    const int chosen = any_product();
    for (int i = 0; i < op_.k; ++i) {
      if ((!all && i != chosen) || is_dead(i)) continue;
      const int e = exponent(i);
      const FactorShare share(fa_, fb_, e);
      if (share.least > share.most) continue;
      const int ea = a_large ? share.most - rng_.between(0, 2) : share.least + rng_.between(0, 2);
      set_a(i, with_exponent(fa_, a(i), ea));
      set_b(i, with_exponent(fb_, b(i), e - ea));
    }
  }

  const AddendExponents* const known_;
  const DotMove left_out_;
  const Op& op_;
  const CornerHints& hints_;
  CounterRng& rng_;
  size_t index_;
  Batch& batch_;
  Column &a_ = batch_.inputs()[0], &b_ = batch_.inputs()[1], &c_ = batch_.inputs()[2];
  const FormatFields &fa_ = op_.a.fields(), &fb_ = op_.b.fields(), &fc_ = op_.c.fields(), &fd_ = op_.d.fields();
};

bool has_dot_moves(const Op& op) { return op.kind == OpKind::dot && !op.a.fields().integer; }

/// One move on a case of an op without DotMoves: matrix products of floating-point numbers and dots of integers have
/// moves of their own, in the others one element changes.
void move_elements(const Op& op, const CornerHints& hints, const std::vector<FormatFields>& formats, Batch& batch,
                   size_t index, CounterRng& rng) {
  if (op.kind == OpKind::gemm && !op.a.fields().integer)
    return move_gemm(op, hints.slicing.value_or(reference_slicing(op.k)), batch, index, rng);
  if (is_integer_dot(op)) return IntegerDot(op, batch, index, rng).move();
  const size_t column = rng.below(static_cast<uint32_t>(batch.inputs().size()));
  const FormatFields& f = formats[column];
  Column& values = batch.inputs()[column];
  const int element = rng.between(0, values.count() - 1);
  uint64_t v = values.get(index, element);
  constexpr uint32_t kinds_for_integers[] = {0, 2, 6, 7};
  switch (f.integer ? kinds_for_integers[rng.below(4)] : rng.below(9)) {
    case 0:
    case 1: v += f.in_container(1); break;
    case 2:
    case 3: v -= f.in_container(1); break;
    case 4: v = with_exponent(f, v, leading_exponent(f, v) + rng.between(-2, 2)); break;
    case 5: v = draw_special(f, rng); break;
    case 6: v ^= uint64_t{1} << rng.below(f.width); break;
    case 7: v = rng.next(); break;
    default: v = (v & ~f.in_container(f.fraction_mask())) | f.in_container(draw_fraction(f, rng)); break;
  }
  values.set(index, element, v & f.container_mask());
}

}  // namespace

CornerHints corner_hints(const DotModel* model, const Slicing* slicing) {
  CornerHints hints;
  if (slicing) hints.slicing = *slicing;
  if (!model) return hints;
  hints.row = *model;
  if (model->fraction_bits > 0) hints.fraction_bits = model->fraction_bits;
  if (model->block > 0) hints.block = model->block;
  if (model->zero_exponent != 0) hints.floor = model->zero_exponent;
  return hints;
}

std::vector<FormatFields> input_formats(const Op& op) {
  std::vector<FormatFields> formats;
  for (const FieldShape& field : op.inputs()) formats.push_back(field.format.fields());
  return formats;
}

void Mutator::move(Batch& batch, size_t index, CounterRng& rng) const {
  if (has_dot_moves(op_)) DotMoves(op_, hints_, batch, index, rng, nullptr, left_out_).one_move();
  else move_elements(op_, hints_, formats_, batch, index, rng);
}

void Mutator::neighbours(Batch& batch, uint64_t selector) const {
  CounterRng unused(0, 0);
  AddendExponents known;
  if (has_dot_moves(op_)) known = DotMoves(op_, hints_, batch, 0, unused).exponents();
  for (size_t i = 1; i < batch.size(); ++i) {
    copy_case(batch, 0, batch, i);
    CounterRng rng(selector, i);
    if (has_dot_moves(op_)) DotMoves(op_, hints_, batch, i, rng, &known).one_move();
    else move_elements(op_, hints_, formats_, batch, i, rng);
  }
}

void Mutator::neighbour(Batch& batch, size_t index, uint64_t selector, size_t number) const {
  CounterRng rng(selector, number);
  if (!has_dot_moves(op_)) return move_elements(op_, hints_, formats_, batch, index, rng);
  const AddendExponents known = DotMoves(op_, hints_, batch, index, rng).exponents();
  DotMoves(op_, hints_, batch, index, rng, &known).one_move();  // with `known`, as in neighbours()
}

void Mutator::mutate(Batch& batch, size_t index, CounterRng& rng) const {
  const int moves = rng.between(1, 3);
  for (int i = 0; i < moves; ++i) move(batch, index, rng);
}

void Mutator::cross(Batch& batch, size_t index, const Batch& other, size_t other_index, CounterRng& rng) const {
  if (op_.kind == OpKind::gemm) return cross_products(op_, batch, index, other, other_index, rng);
  // Factor pairs stay together: a and b take the same positions.
  const bool has_pairs = op_.kind == OpKind::dot;
  uint64_t pairs = rng.next();
  if (rng.one_in(2)) pairs |= rng.next();
  for (size_t column = 0; column < batch.inputs().size(); ++column) {
    Column& values = batch.inputs()[column];
    const uint64_t taken = has_pairs && column < 2 ? pairs : rng.next();
    for (int i = 0; i < values.count(); ++i)
      if (taken >> (i & 63) & 1) values.set(index, i, other.inputs()[column].get(other_index, i));
  }
}

}  // namespace mmafuzz
