// The steps that error bounds are made of (README.md, section 1): a value that a unit holds, known by its exact value
// and a bound of its error; cuts of its last bits; one rounding. Bounds are rounded upward throughout.
#pragma once

#include <algorithm>

#include "arithmetic/specials.h"
#include "oracles/exact/mpfr_reference.h"

namespace mmafuzz::bounds {

inline constexpr mpfr_prec_t bound_precision = 64;
inline constexpr int never = -1000000;           ///< stands for the exponent of a zero: below all others
inline constexpr int multiple_of_all = 1000000;  ///< stands for the exponent of a zero's last bit: above all others

inline int exponent_of(mpfr_srcptr x) { return mpfr_sgn(x) == 0 ? never : static_cast<int>(mpfr_get_exp(x)) - 1; }

/// A value that a unit holds: |held - exact| <= error, and held is a multiple of 2^unit.
struct Held {
  /// Holds zero. `precision` suffices for exact sums of the case's terms; `error` has it, too, so that the order in
  /// which errors are added does not matter.
  explicit Held(mpfr_prec_t precision) : exact(precision), error(precision), greatest_part(bound_precision) {
    for (exact::Mpfr* x : {&exact, &error, &greatest_part}) mpfr_set_zero(x->get(), 1);
  }

  exact::Mpfr exact, error;
  exact::Mpfr greatest_part;  ///< the greatest summand of `error`
  int unit = multiple_of_all;
  bool fits_d = false;      ///< held is a number of d's format
  bool is_rounded = false;  ///< held is a rounded result
  bool is_flushed = false;  ///< held is no subnormal number: the loss by flushing is counted already

  /// The unit may be off by that much more.
  void lose(mpfr_srcptr part) {
    mpfr_add(error.get(), error.get(), part, MPFR_RNDU);
    mpfr_max(greatest_part.get(), greatest_part.get(), part, MPFR_RNDU);
  }

  bool error_is_zero() const { return mpfr_zero_p(error.get()) != 0; }
  bool is_zero() const { return error_is_zero() && mpfr_zero_p(exact.get()); }

  /// Sets `unit` of a held value that is exact.
  void set_unit() {
    if (!mpfr_zero_p(exact.get()))
      unit = static_cast<int>(mpfr_get_exp(exact.get())) - static_cast<int>(mpfr_min_prec(exact.get()));
  }

  /// The unit reads zero instead.
  void drop() {
    exact::Mpfr whole(bound_precision);
    mpfr_abs(whole.get(), exact.get(), MPFR_RNDU);
    lose(whole.get());
    unit = multiple_of_all;
    fits_d = is_flushed = true;
  }

  /// The greatest magnitude that may be held.
  exact::Mpfr magnitude() const {
    exact::Mpfr m(bound_precision);
    mpfr_abs(m.get(), exact.get(), MPFR_RNDU);
    mpfr_add(m.get(), m.get(), error.get(), MPFR_RNDU);
    return m;
  }
  /// Exponents of the greatest and the least magnitude that may be held; `never`: it may be zero.
  int greatest_exponent() const { return exponent_of(magnitude().get()); }
  int least_exponent() const {
    exact::Mpfr m(bound_precision);
    mpfr_abs(m.get(), exact.get(), MPFR_RNDD);
    mpfr_sub(m.get(), m.get(), error.get(), MPFR_RNDD);
    return mpfr_sgn(m.get()) <= 0 ? never : exponent_of(m.get());
  }
};

/// A multiple of 2^last_bit is cut, in whatever direction, to a multiple of 2^cut: it loses at most
/// 2^cut - 2^last_bit, or at_most where that is less.
inline void lose_below(Held& h, int cut, int last_bit, mpfr_srcptr at_most = nullptr) {
  if (last_bit >= cut) return;
  exact::Mpfr lost(bound_precision);
  if (cut - last_bit >= 64) mpfr_set_ui_2exp(lost.get(), 1, cut, MPFR_RNDN);
  else mpfr_set_uj_2exp(lost.get(), (uint64_t{1} << (cut - last_bit)) - 1, last_bit, MPFR_RNDN);
  h.lose(at_most && mpfr_cmp(at_most, lost.get()) < 0 ? at_most : lost.get());
}

/// h becomes the exact sum of both; their errors add up.
inline void add_exactly(Held& h, const Held& other) {
  exact::must_be_exact(mpfr_add(h.exact.get(), h.exact.get(), other.exact.get(), MPFR_RNDN));
  h.unit = std::min(h.unit, other.unit);
  if (other.error_is_zero()) return;
  mpfr_add(h.error.get(), h.error.get(), other.error.get(), MPFR_RNDU);
  mpfr_max(h.greatest_part.get(), h.greatest_part.get(), other.greatest_part.get(), MPFR_RNDU);
}

/// A value below 2^emin may be read as zero.
inline void lose_subnormal(Held& h, int emin) {
  if (h.unit >= emin || h.least_exponent() >= emin) return;
  exact::Mpfr m = h.magnitude(), least_normal(bound_precision);
  mpfr_set_ui_2exp(least_normal.get(), 1, emin, MPFR_RNDN);
  mpfr_min(m.get(), m.get(), least_normal.get(), MPFR_RNDU);
  h.lose(m.get());
  h.is_flushed = true;
}

/// What may have happened so far in a case.
struct Overflows {
  bool happened = false;      ///< a value overflowed
  bool were_clamped = false;  ///< a value overflowed and became a finite number
};

/// Where a value is rounded to.
struct RoundTo {
  FormatFields format;
  RoundingRule rule;
  bool flushes = false;  ///< subnormal results become zeros
};

/// h becomes its rounding, with the loss of that.
void round(Held& h, const RoundTo& to, Overflows& overflows);

/// h becomes the rounded sum of both; adding a zero to a number of the format changes nothing.
void add_and_round(Held& h, const Held& other, const RoundTo& to, Overflows& overflows);

}  // namespace mmafuzz::bounds
