#include "oracles/bounds/bound_steps.h"

namespace mmafuzz::bounds {
namespace {

/// Notes whether a magnitude of at most m may be rounded beyond the greatest number, and become a finite number there.
void note_overflow(mpfr_srcptr m, const RoundTo& to, Overflows& overflows) {
  const FormatFields& f = to.format;
  exact::Mpfr end(128), part(128);
  // The greatest number (its code is one less under Specials::fn), then what must be added to it to overflow.
  const int quantum = f.emax() - f.fraction_bits;
  const uint64_t significand = (f.greatest_magnitude() & f.fraction_mask()) + (uint64_t{1} << f.fraction_bits);
  mpfr_set_uj_2exp(end.get(), significand, quantum, MPFR_RNDN);
  if (to.rule.rounding == Rounding::toward_zero || to.rule.rounding == Rounding::odd)
    mpfr_set_ui_2exp(part.get(), 1, quantum, MPFR_RNDN);
  else if (is_nearest(to.rule.rounding)) mpfr_set_ui_2exp(part.get(), 1, quantum - 1, MPFR_RNDN);
  else mpfr_set_zero(part.get(), 1);
  mpfr_add(end.get(), end.get(), part.get(), MPFR_RNDD);
  if (mpfr_cmp(m, end.get()) < 0) return;
  overflows.happened = true;
  const bool clamps = to.rule.overflow == Overflow::saturate || f.specials == Specials::none ||
                      (to.rule.overflow == Overflow::by_rounding && !is_nearest(to.rule.rounding));
  overflows.were_clamped |= clamps;
}

/// Whether magnitudes up to m stay below the least normal number in any rounding.
bool cannot_be_normal(mpfr_srcptr m, const FormatFields& f) {
  exact::Mpfr greatest_subnormal(bound_precision);
  mpfr_set_uj_2exp(greatest_subnormal.get(), f.fraction_mask(), f.least_bit(), MPFR_RNDN);
  return mpfr_cmp(m, greatest_subnormal.get()) <= 0;
}

}  // namespace

void round(Held& h, const RoundTo& to, Overflows& overflows) {
  const FormatFields& f = to.format;
  const exact::Mpfr m = h.magnitude();
  note_overflow(m.get(), to, overflows);
  const int quantum = std::max(exponent_of(m.get()) - f.fraction_bits, f.least_bit());
  const bool may_be_subnormal = to.flushes && h.unit < f.emin() && h.least_exponent() < f.emin();
  if (may_be_subnormal) {
    // Rounded or made zero, not both; what becomes zero is below the least normal number.
    lose_subnormal(h, f.emin());
    if (exponent_of(m.get()) >= f.emin() && h.unit < quantum) {
      // A result that stays normal is rounded: the loss is at least a step of that, the greater of the two.
      exact::Mpfr least_normal(bound_precision), step(bound_precision);
      mpfr_set_ui_2exp(least_normal.get(), 1, f.emin(), MPFR_RNDN);
      mpfr_set_ui_2exp(step.get(), 1, is_nearest(to.rule.rounding) ? quantum - 1 : quantum, MPFR_RNDN);
      mpfr_sub(step.get(), step.get(), least_normal.get(), MPFR_RNDU);
      if (mpfr_sgn(step.get()) > 0) h.lose(step.get());
    }
  } else if (h.unit < quantum) {
    if (is_nearest(to.rule.rounding)) lose_below(h, quantum - 1, never);
    else lose_below(h, quantum, h.unit);
  }
  h.unit = std::max(h.unit, f.least_bit());
  if (may_be_subnormal && cannot_be_normal(m.get(), f)) h.unit = multiple_of_all;  // it is zero
  h.fits_d = h.is_rounded = true;
  h.is_flushed = to.flushes;
}

void add_and_round(Held& h, const Held& other, const RoundTo& to, Overflows& overflows) {
  const bool is_number = (other.is_zero() && h.fits_d) || (h.is_zero() && other.fits_d);
  if (is_number) {
    if (!other.is_zero()) {
      add_exactly(h, other);
      h.fits_d = true;
      h.is_rounded = other.is_rounded;
      h.is_flushed = other.is_flushed;
    }
    if (to.flushes && !h.is_flushed) lose_subnormal(h, to.format.emin());
    return;
  }
  add_exactly(h, other);
  round(h, to, overflows);
}

}  // namespace mmafuzz::bounds
