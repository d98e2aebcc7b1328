#include "search/draw_gemm.h"

#include <algorithm>

#include "arithmetic/corner_encodings.h"
#include "search/gemm_moves.h"

namespace mmafuzz {
namespace {

/// How wide the exponents of a case spread: what decides the number of slices.
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

/// Where the exponents of a matrix lie: mostly near 1, else at an end of the range.
int draw_center(const FormatFields& f, CounterRng& rng) {
  switch (rng.below(8)) {
    case 0: return f.emax();
    case 1: return f.emin() - rng.between(-2, f.fraction_bits);
    case 2: return rng.between(f.emin(), f.emax());
    default: return rng.between(-20, 20);
  }
}

class GemmDraw {
 public:
  GemmDraw(const Op& op, CounterRng& rng, Batch& batch, size_t index)
      : op_(op), rng_(rng), batch_(batch), index_(index) {}

  void whole() {
    for (size_t side : {size_t{0}, size_t{1}}) {
      const FormatFields& f = format(side);
      const int spread = draw_spread(f, rng_), center = draw_center(f, rng_), count = batch_.inputs()[side].count();
      // A wide spread in one line mostly: the others show that lines do not disturb each other, and cost less.
      const int lines = side == 0 ? op_.m : op_.n;
      const int wide = spread > 30 && !rng_.one_in(8) ? static_cast<int>(rng_.below(static_cast<uint32_t>(lines))) : -1;
      const bool ones = rng_.one_in(4), one_sign = rng_.one_in(3), sparse = rng_.one_in(4);
      for (int e = 0; e < count; ++e) {
        const bool zero = sparse ? !rng_.one_in(3) : rng_.one_in(32);
        const int own = wide < 0 || (side == 0 ? e / op_.k : e % op_.n) == wide ? spread : 4;
        const int exponent = center - (own ? rng_.between(0, own) : 0);
        const uint64_t fraction = ones ? f.fraction_mask() : draw_fraction(f, rng_);
        set(side, e,
            zero ? f.encode_zero(rng_.one_in(4)) : encode_near(f, !one_sign && rng_.one_in(2), exponent, fraction));
      }
    }
    for (int e = 0; e < batch_.c().count(); ++e) draw_c(e);
    if (rng_.one_in(4)) cancel();
    if (rng_.one_in(8))
      for (int n = rng_.between(1, 3); n > 0; --n) special();
  }

  void one_move() {
    switch (rng_.below(12)) {
      case 0: return special();
      case 1: return cancel();
      case 2: return draw_c(static_cast<int>(rng_.below(static_cast<uint32_t>(batch_.c().count()))));
      case 3: return line([&](const FormatFields& f, uint64_t x) { return with_exponent(f, x, draw_center(f, rng_)); });
      case 4:
        return line([&](const FormatFields& f, uint64_t x) {
          return is_special(f, x) ? x : x | f.in_container(f.fraction_mask());
        });
      case 5: return line([&](const FormatFields& f, uint64_t) { return f.encode_zero(rng_.one_in(2)); });
      case 6: return line([&](const FormatFields& f, uint64_t x) { return x ^ travelling_sign(f); });
      case 7:
        return element([&](const FormatFields& f, uint64_t x) {
          return with_exponent(f, x, leading_exponent(f, x) + rng_.between(-14, 14));
        });
      case 8:
        return element([&](const FormatFields& f, uint64_t x) {
          return (x & ~f.in_container(f.fraction_mask())) | f.in_container(draw_fraction(f, rng_));
        });
      case 9: return element([&](const FormatFields& f, uint64_t) { return subnormal(f); });
      case 10: return element([&](const FormatFields& f, uint64_t) { return f.encode_zero(rng_.one_in(2)); });
      default:
        return element([&](const FormatFields& f, uint64_t x) { return x ^ uint64_t { 1 } << rng_.below(f.width); });
    }
  }

 private:
  const FormatFields& format(size_t side) const {
    return side == 0 ? op_.a.fields() : side == 1 ? op_.b.fields() : op_.c.fields();
  }
  void set(size_t side, int element, uint64_t value) {
    batch_.inputs()[side].set(index_, element, value & format(side).container_mask());
  }

  uint64_t subnormal(const FormatFields& f) {
    const uint64_t fraction = draw_fraction(f, rng_);
    const int exponent = f.emin() - rng_.between(0, f.fraction_bits);
    const bool negative = rng_.one_in(2);
    return encode_near(f, negative, exponent, fraction);
  }

  /// Zero, special, or near the products' exponents and up to two precisions below.
  void draw_c(int e) {
    const FormatFields& f = op_.c.fields();
    if (rng_.one_in(3)) return set(2, e, f.encode_zero(rng_.one_in(3)));
    const int i = e / op_.n, j = e % op_.n, l = static_cast<int>(rng_.below(static_cast<uint32_t>(op_.k)));
    const int near = leading_exponent(op_.a.fields(), batch_.a().get(index_, i * op_.k + l)) +
                     leading_exponent(op_.b.fields(), batch_.b().get(index_, l * op_.n + j));
    const uint64_t fraction = draw_fraction(f, rng_);
    const int exponent = near - rng_.between(-3, 2 * f.precision());
    const bool negative = rng_.one_in(2);
    set(2, e, encode_near(f, negative, exponent, fraction));
  }

  void special() {
    const size_t side = rng_.below(3);
    const uint64_t value = draw_special(format(side), rng_);
    set(side, static_cast<int>(rng_.below(static_cast<uint32_t>(batch_.inputs()[side].count()))), value);
  }

  /// Two places along k whose products in row i cancel, exactly or off by one low bit.
  void cancel() {
    if (op_.k < 2) return;
    const int from = rng_.between(0, op_.k - 1), to = (from + rng_.between(1, op_.k - 1)) % op_.k;
    for (int i = 0; i < op_.m; ++i)
      set(0, i * op_.k + to, batch_.a().get(index_, i * op_.k + from) ^ travelling_sign(op_.a.fields()));
    for (int j = 0; j < op_.n; ++j) set(1, to * op_.n + j, batch_.b().get(index_, from * op_.n + j));
    if (rng_.one_in(2)) element([&](const FormatFields& f, uint64_t x) { return x ^ f.in_container(1); });
  }

  template <class Change>
  void element(const Change& change) {
    const size_t side = rng_.below(2);
    const int e = static_cast<int>(rng_.below(static_cast<uint32_t>(batch_.inputs()[side].count())));
    set(side, e, change(format(side), batch_.inputs()[side].get(index_, e)));
  }

  /// A row of a or a column of b.
  template <class Change>
  void line(const Change& change) {
    const size_t side = rng_.below(2);
    const int at = static_cast<int>(rng_.below(static_cast<uint32_t>(side == 0 ? op_.m : op_.n)));
    for (int l = 0; l < op_.k; ++l) {
      const int e = side == 0 ? at * op_.k + l : l * op_.n + at;
      set(side, e, change(format(side), batch_.inputs()[side].get(index_, e)));
    }
  }

  const Op& op_;
  CounterRng& rng_;
  Batch& batch_;
  size_t index_;
};

}  // namespace

void draw_gemm(const Op& op, CounterRng& rng, Batch& batch, size_t index) { GemmDraw(op, rng, batch, index).whole(); }

void move_gemm(const Op& op, const Slicing& slicing, Batch& batch, size_t index, CounterRng& rng) {
  if (rng.one_in(2)) return move_slices(op, slicing, batch, index, rng);
  GemmDraw(op, rng, batch, index).one_move();
}

}  // namespace mmafuzz
