#include "oracles/exact/mpfr_reference.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>

#include "core/contradiction.h"
#include "oracles/exact/exact_dot.h"

namespace mmafuzz::exact {

void must_be_exact(int ternary) {
  if (ternary != 0) throw Contradiction("MPFR reference: a sum or product was not exact");
}

namespace {

bool is_subnormal(const Format& format, uint64_t encoding) {
  const FormatFields& f = format.fields();
  const uint64_t code = encoding >> f.ignored_low_bits;
  return f.subnormals != SubnormalRule::absent && !f.integer &&
         (code >> f.fraction_bits & low_mask(f.exponent_bits)) == 0 && (code & f.fraction_mask()) != 0;
}

/// Under ftz=1 a result that is subnormal, or underflowed, is a zero of its sign, where the format has one.
void flush_result(const Op& op, MpfrRounded& r) {
  const FormatFields& f = op.d.fields();
  if (!op.flush_to_zero || f.integer || f.subnormals == SubnormalRule::absent) return;
  if (!is_subnormal(op.d, r.encoding) && !(r.flags & flag::underflow)) return;
  r.encoding = f.encode_zero((r.encoding & f.in_container(f.sign_bit())) != 0);
  r.flags |= flag::underflow | flag::inexact;
}

bool is_signaling(const Format& format, uint64_t encoding) {
  const FormatFields& f = format.fields();
  if (f.specials != Specials::ieee) return false;
  const uint64_t code = encoding >> f.ignored_low_bits;
  return (code >> f.fraction_bits & low_mask(f.exponent_bits)) == low_mask(f.exponent_bits) &&
         (code & f.fraction_mask()) != 0 && (f.has(policy::any_nan_invalid) || !(code >> (f.fraction_bits - 1) & 1));
}

/// Greatest finite value of a format.
void set_greatest(mpfr_ptr x, const Format& format) {
  set_from_encoding(x, format, format.fields().encode_greatest(false));
}

uint64_t overflow_result(const FormatFields& f, bool negative, const RoundingRule& rule) {
  bool infinite = rule.rounding == Rounding::nearest_even || rule.rounding == Rounding::nearest_away ||
                  (rule.rounding == Rounding::up && !negative) || (rule.rounding == Rounding::down && negative);
  if (rule.overflow == Overflow::infinity) infinite = true;
  if (rule.overflow == Overflow::saturate) infinite = false;
  if (rule.rounding == Rounding::stochastic && rule.overflow == Overflow::by_rounding) infinite = true;
  if (!infinite || f.specials == Specials::none) return f.encode_greatest(negative && !f.has(policy::clamp_positive));
  if (f.has_infinity()) return f.encode_infinity(negative);
  return f.encode_nan() | (negative && f.specials == Specials::fn ? f.sign_bit() : 0);
}

/// Whether the random bits r of `rule` move a magnitude away from zero that lies `part` of `whole` above the lower of
/// its neighbours: r < T (docs/cfloat.md), each T written as an inequality without division, which MPFR evaluates
/// exactly.
bool draw_moves_up(mpfr_srcptr part, mpfr_srcptr whole, const RoundingRule& rule) {
  if (mpfr_zero_p(part)) return false;
  Mpfr left(mpfr_get_prec(whole) + 64), right(mpfr_get_prec(part) + 2);
  const bool nearest = rule.threshold == Threshold::nearest;
  // floor: r + 1 <= f*2^N; ceiling: r < f*2^N; nearest: 2r + 1 <= f*2^(N+1).
  const unsigned long r = rule.random;
  must_be_exact(mpfr_mul_ui(left.get(), whole,
                            nearest                              ? 2 * r + 1
                            : rule.threshold == Threshold::floor ? r + 1
                                                                 : r,
                            MPFR_RNDN));
  must_be_exact(mpfr_mul_2si(right.get(), part, rule.random_bits + (nearest ? 1 : 0), MPFR_RNDN));
  const int order = mpfr_cmp(left.get(), right.get());
  return rule.threshold == Threshold::ceiling ? order < 0 : order <= 0;
}

/// x rounded to an integer in the rule's mode.
void round_to_integer(mpfr_ptr n, mpfr_srcptr x, const RoundingRule& rule) {
  if (rule.rounding == Rounding::stochastic) {
    Mpfr part(mpfr_get_prec(x) + 2), one(64);
    mpfr_trunc(n, x);
    must_be_exact(mpfr_sub(part.get(), x, n, MPFR_RNDN));
    mpfr_abs(part.get(), part.get(), MPFR_RNDN);
    mpfr_set_si(one.get(), 1, MPFR_RNDN);
    if (draw_moves_up(part.get(), one.get(), rule))
      must_be_exact(mpfr_add_si(n, n, mpfr_signbit(x) ? -1 : 1, MPFR_RNDN));
    return;
  }
  switch (rule.rounding) {
    case Rounding::nearest_even: mpfr_roundeven(n, x); break;
    case Rounding::nearest_away: mpfr_round(n, x); break;
    case Rounding::up: mpfr_ceil(n, x); break;
    case Rounding::down: mpfr_floor(n, x); break;
    case Rounding::odd:
      if (!mpfr_integer_p(x)) {  // of the two integers beside it one is odd
        mpfr_floor(n, x);
        Mpfr half(mpfr_get_prec(n));
        mpfr_div_2ui(half.get(), n, 1, MPFR_RNDN);
        if (mpfr_integer_p(half.get())) must_be_exact(mpfr_add_ui(n, n, 1, MPFR_RNDN));
        break;
      }
      [[fallthrough]];
    default: mpfr_trunc(n, x); break;
  }
}

/// MPFR's own mode of that name, if there is one.
std::optional<mpfr_rnd_t> mode_of(Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest_even: return MPFR_RNDN;
    case Rounding::toward_zero: return MPFR_RNDZ;
    case Rounding::up: return MPFR_RNDU;
    case Rounding::down: return MPFR_RNDD;
    default: return {};
  }
}

/// Rounds x to `precision` significant bits, but not below weight 2^least; returns whether it was inexact.
bool round_to_quantum(mpfr_ptr result, mpfr_srcptr x, int precision, long least, const RoundingRule& rule) {
  // Below half of the least weight, and not zero.
  if (mpfr_get_exp(x) < least && rule.rounding != Rounding::stochastic) {
    const bool negative = mpfr_signbit(x) != 0;
    const bool away = rule.rounding == Rounding::odd || rule.rounding == (negative ? Rounding::down : Rounding::up);
    if (away) mpfr_set_si_2exp(result, negative ? -1 : 1, least, MPFR_RNDN);
    else mpfr_set_zero(result, negative ? -1 : 1);
    return true;
  }
  const long quantum = std::max(static_cast<long>(mpfr_get_exp(x)) - precision, least);
  Mpfr scaled(mpfr_get_prec(x)), integer(mpfr_get_prec(x) + 2);
  must_be_exact(mpfr_mul_2si(scaled.get(), x, -quantum, MPFR_RNDN));
  round_to_integer(integer.get(), scaled.get(), rule);
  must_be_exact(mpfr_mul_2si(result, integer.get(), quantum, MPFR_RNDN));
  return mpfr_equal_p(integer.get(), scaled.get()) == 0;
}

/// The 64 leading bits of a nonzero number, read in place: mpfr_get_uj allocates memory.
uint64_t leading_word(mpfr_srcptr x) {
  constexpr int limb_bits = 8 * sizeof(mp_limb_t);
  const auto* limbs = static_cast<const mp_limb_t*>(mpfr_custom_get_significand(x));
  const mpfr_prec_t last = (mpfr_get_prec(x) - 1) / limb_bits;
  const uint64_t high = limbs[last];
  if constexpr (limb_bits == 64) return high;
  return high << 32 | (last ? limbs[last - 1] : 0);
}

/// Encodes a finite value that is representable and not above the greatest.
uint64_t encode_representable(const FormatFields& f, mpfr_srcptr x) {
  const bool negative = mpfr_signbit(x) != 0;
  if (mpfr_zero_p(x)) return f.encode_zero(negative);
  const long leading = static_cast<long>(mpfr_get_exp(x)) - 1;
  const long emin = f.emin();
  const bool normal = leading >= emin;
  const long literal = !normal && f.subnormals == SubnormalRule::literal ? 1 : 0;
  const long bits = f.fraction_bits + 1 - (normal ? 0 : emin - leading) + literal;
  const uint64_t significand = leading_word(x) >> (64 - bits);
  uint64_t code = significand & low_mask(f.fraction_bits);
  if (normal) code |= static_cast<uint64_t>(leading + f.bias) << f.fraction_bits;
  if (negative) code |= f.sign_bit();
  return code << f.ignored_low_bits;
}

/// Whether a value below the least normal number counts as tiny: always before rounding; after it, unless rounding with
/// unbounded exponents reaches the least normal number.
bool is_tiny(const FormatFields& f, mpfr_srcptr x, const RoundingRule& rule) {
  if (rule.tininess == Tininess::before || mpfr_get_exp(x) < f.emin()) return true;
  Mpfr unbounded(mpfr_get_prec(x) + 2);
  constexpr long no_least = -1000000;
  round_to_quantum(unbounded.get(), x, f.fraction_bits + 1, no_least, rule);
  return mpfr_get_exp(unbounded.get()) - 1 < f.emin();
}

/// Literal CFloat subnormals: rounds x to one of its two neighbours among subnormals and the least normal number.
MpfrRounded round_below_least_normal(const Format& format, mpfr_srcptr x, const RoundingRule& rule) {
  const FormatFields& f = format.fields();
  const bool negative = mpfr_signbit(x) != 0;
  Mpfr low(128), high(128), magnitude(mpfr_get_prec(x)), middle(128);
  mpfr_abs(magnitude.get(), x, MPFR_RNDN);
  uint64_t code = 0;  // the greatest code whose value does not exceed |x|: a plain search
  for (uint64_t candidate = 0; candidate <= low_mask(f.fraction_bits); ++candidate) {
    set_from_encoding(low.get(), format, candidate);
    if (mpfr_cmp(low.get(), magnitude.get()) <= 0) code = candidate;
  }
  set_from_encoding(low.get(), format, code);
  set_from_encoding(high.get(), format, code + 1);
  uint8_t flags = 0;
  if (!mpfr_equal_p(low.get(), magnitude.get())) {
    flags = flag::inexact;
    mpfr_add(middle.get(), low.get(), high.get(), MPFR_RNDN);
    mpfr_div_2ui(middle.get(), middle.get(), 1, MPFR_RNDN);
    const int side = mpfr_cmp(magnitude.get(), middle.get());
    const bool in_hole = code == low_mask(f.fraction_bits);
    bool up = false;
    const bool tie_up = in_hole ? !f.has(policy::hole_tie_down) : rule.rounding == Rounding::nearest_away || (code & 1);
    const bool to_nearer = rule.rounding == Rounding::nearest_even || rule.rounding == Rounding::nearest_away ||
                           (rule.rounding == Rounding::stochastic && in_hole && f.has(policy::hole_nearest));
    if (to_nearer) {
      up = side > 0 || (side == 0 && tie_up);
    } else if (rule.rounding == Rounding::stochastic) {
      mpfr_sub(high.get(), high.get(), low.get(), MPFR_RNDN);
      mpfr_sub(low.get(), magnitude.get(), low.get(), MPFR_RNDN);
      up = draw_moves_up(low.get(), high.get(), rule);
    }
    if (rule.rounding == Rounding::up) up = !negative;
    if (rule.rounding == Rounding::down) up = negative;
    if (rule.rounding == Rounding::odd) up = !(code & 1);
    code += up;
    if (is_tiny(f, x, rule)) flags |= flag::underflow;
  } else if (f.has(policy::underflow_exact)) {
    flags = flag::underflow;
  }
  return {(code | (negative && code ? f.sign_bit() : 0)) | (negative && !code ? f.encode_zero(true) : 0), flags};
}

/// Sets x to significand * 2^exponent. MPFR's function of long is the faster one.
void set_scaled(mpfr_ptr x, uint64_t significand, long exponent) {
  const int ternary = sizeof(long) == 8
                          ? mpfr_set_ui_2exp(x, static_cast<unsigned long>(significand), exponent, MPFR_RNDN)
                          : mpfr_set_uj_2exp(x, significand, exponent, MPFR_RNDN);
  must_be_exact(ternary);
}

MpfrRounded negative_without_sign(const FormatFields& f, const RoundingRule& rule) {
  const bool to_zero = !f.has_nan() || rule.overflow == Overflow::saturate || f.has(policy::negative_zero);
  return {to_zero ? f.encode_zero(false) : f.encode_nan(), flag::invalid};
}

/// The operands of a scalar operation.
struct Operands {
  Operands(const Op& op, const uint64_t* encodings) {
    Mpfr* const all[] = {&x, &y, &z};
    for (int i = 0; i < op.arity(); ++i) {
      set_operand(all[i]->get(), op, op.a, encodings[i]);
      any_nan |= mpfr_nan_p(all[i]->get()) != 0;
    }
  }
  Mpfr x{64}, y{64}, z{64};
  bool any_nan = false;
};

bool set_scalar_value(const Op& op, const Operands& operands, mpfr_ptr result) {
  const Mpfr &x = operands.x, &y = operands.y, &z = operands.z;
  // MPFR follows IEEE 754 for signs of zeros, infinities and NaN; the rounding direction only decides the sign of x -
  // x.
  const mpfr_rnd_t direction = op.rounding == Rounding::down ? MPFR_RNDD : MPFR_RNDN;
  mpfr_clear_divby0();
  switch (op.scalar) {
    case ScalarOperation::add: must_be_exact(mpfr_add(result, x.get(), y.get(), direction)); break;
    case ScalarOperation::sub: must_be_exact(mpfr_sub(result, x.get(), y.get(), direction)); break;
    case ScalarOperation::mul: must_be_exact(mpfr_mul(result, x.get(), y.get(), direction)); break;
    case ScalarOperation::fma: must_be_exact(mpfr_fma(result, x.get(), y.get(), z.get(), direction)); break;
    case ScalarOperation::rem:
      free_caches_at_thread_end();
      must_be_exact(mpfr_remainder(result, x.get(), y.get(), MPFR_RNDN));
      break;
    case ScalarOperation::round_to_integral:
      if (mpfr_number_p(x.get())) round_to_integer(result, x.get(), op.rounding_rule());
      else must_be_exact(mpfr_set(result, x.get(), MPFR_RNDN));
      break;
    case ScalarOperation::equal:
    case ScalarOperation::equal_signaling: mpfr_set_ui(result, mpfr_equal_p(x.get(), y.get()) != 0, MPFR_RNDN); break;
    case ScalarOperation::less:
    case ScalarOperation::less_quiet: mpfr_set_ui(result, mpfr_less_p(x.get(), y.get()) != 0, MPFR_RNDN); break;
    case ScalarOperation::less_equal:
    case ScalarOperation::less_equal_quiet:
      mpfr_set_ui(result, mpfr_lessequal_p(x.get(), y.get()) != 0, MPFR_RNDN);
      break;
    case ScalarOperation::unordered: mpfr_set_ui(result, mpfr_unordered_p(x.get(), y.get()) != 0, MPFR_RNDN); break;
    case ScalarOperation::rcp:
    case ScalarOperation::div:
    case ScalarOperation::sqrt:
      if (op.scalar == ScalarOperation::sqrt) return mpfr_sqrt(result, x.get(), MPFR_RNDZ) != 0;
      if (op.scalar == ScalarOperation::rcp) return mpfr_ui_div(result, 1, x.get(), MPFR_RNDZ) != 0;
      return mpfr_div(result, x.get(), y.get(), MPFR_RNDZ) != 0;
  }
  return false;
}

MpfrRounded convert_to_integer(const Op& op, mpfr_srcptr x, uint64_t source) {
  const FormatFields& to = op.d.fields();
  if (mpfr_number_p(x)) {
    Mpfr n(128), end(128);
    round_to_integer(n.get(), x, op.rounding_rule_of(source));
    const int bits = to.width - (to.has_sign() ? 1 : 0);
    mpfr_set_ui_2exp(end.get(), 1, bits, MPFR_RNDN);
    const bool above = mpfr_cmp(n.get(), end.get()) >= 0;
    mpfr_set_si_2exp(end.get(), to.has_sign() ? -1 : 0, bits, MPFR_RNDN);
    const bool below = mpfr_cmp(n.get(), end.get()) < 0;
    if (!above && !below) {
      const uint64_t code = mpfr_sgn(n.get()) < 0 ? static_cast<uint64_t>(mpfr_get_sj(n.get(), MPFR_RNDN))
                                                  : static_cast<uint64_t>(mpfr_get_uj(n.get(), MPFR_RNDN));
      const bool inexact = op.signals_inexact && !mpfr_equal_p(n.get(), x);
      return {code & to.container_mask(), static_cast<uint8_t>(inexact ? flag::inexact : 0)};
    }
  }
  const uint64_t sign = to.has_sign() ? uint64_t{1} << (to.width - 1) : 0;
  if (!op.saturate) return {sign ? sign : to.container_mask(), flag::invalid};
  if (mpfr_nan_p(x)) return {0, flag::invalid};
  return {mpfr_signbit(x) ? sign : to.container_mask() ^ sign, flag::invalid};
}

/// Whether all terms of a sum, zeros included, are negative, or all are positive.
struct SignsSeen {
  bool all_negative = true, all_positive = true;
};

/// Sets `sum` to the exact sum of a dot.
SignsSeen sum_dot(const Op& op, const DotOperands& in, mpfr_ptr sum) {
  Mpfr product(256), x(64);
  SignsSeen seen;
  const auto accumulate = [&](mpfr_srcptr term, bool first) {
    (mpfr_signbit(term) ? seen.all_positive : seen.all_negative) = false;
    must_be_exact(first ? mpfr_set(sum, term, MPFR_RNDN) : mpfr_add(sum, sum, term, MPFR_RNDN));
  };
  for (int i = 0; i < in.k; ++i) {
    set_product(product.get(), op, in, i);
    accumulate(product.get(), i == 0);
  }
  set_operand(x.get(), op, op.c, in.c);
  accumulate(x.get(), false);
  return seen;
}

}  // namespace

std::string decimal_text(mpfr_srcptr x, int digits) {
  if (mpfr_nan_p(x)) return "nan";
  const std::string sign = mpfr_signbit(x) ? "-" : "";
  if (mpfr_inf_p(x)) return sign + "inf";
  if (mpfr_zero_p(x)) return sign + "0";
  mpfr_exp_t point;  // the number of digits before the decimal point
  const std::unique_ptr<char, void (*)(char*)> written(mpfr_get_str(nullptr, &point, 10, digits, x, MPFR_RNDN),
                                                       mpfr_free_str);
  std::string text = written.get() + sign.size();
  text.erase(text.find_last_not_of('0') + 1);
  const long exponent = point - 1;
  if (exponent < -4 || exponent >= digits) {
    if (text.size() > 1) text.insert(1, ".");
    text += exponent < 0 ? "e-" : "e+";
    if (std::labs(exponent) < 10) text += '0';
    return sign + text + std::to_string(std::labs(exponent));
  }
  if (point <= 0) text.insert(0, "0." + std::string(-point, '0'));
  else if (text.size() > size_t(point)) text.insert(point, ".");
  else text.append(point - text.size(), '0');
  return sign + text;
}

void set_from_encoding(mpfr_ptr x, const Format& format, uint64_t encoding) {
  const FormatFields& f = format.fields();
  if (f.integer) {
    must_be_exact(f.has_sign() ? mpfr_set_sj(x, sign_extended(f, encoding), MPFR_RNDN)
                               : mpfr_set_uj(x, encoding, MPFR_RNDN));
    return;
  }
  if (f.shared_bias) {
    must_be_exact(mpfr_set_ui_2exp(x, 1, -static_cast<long>(encoding), MPFR_RNDN));
    return;
  }
  const uint64_t code = encoding >> f.ignored_low_bits;
  const uint64_t fraction = code & low_mask(f.fraction_bits);
  const uint64_t field = code >> f.fraction_bits & low_mask(f.exponent_bits);
  const bool negative = f.sign == SignField::present && (code >> (f.fraction_bits + f.exponent_bits) & 1);
  const bool top = field == low_mask(f.exponent_bits), all_ones = fraction == low_mask(f.fraction_bits);
  if ((f.specials == Specials::ieee && top && fraction) || (f.specials == Specials::fn && top && all_ones) ||
      (f.specials == Specials::top_code && top) || (f.minus_zero_is_nan() && negative && !field && !fraction)) {
    mpfr_set_nan(x);
    return;
  }
  if ((f.specials == Specials::ieee && top) || (f.specials == Specials::top_infinity && top && all_ones)) {
    mpfr_set_inf(x, negative ? -1 : 1);
    return;
  }
  if (field == 0 && f.subnormals != SubnormalRule::absent) {
    const long weight = 1L - f.bias - f.fraction_bits - (f.subnormals == SubnormalRule::literal ? 1 : 0);
    set_scaled(x, f.subnormals == SubnormalRule::flushed ? 0 : fraction, weight);
  } else {
    const uint64_t significand = fraction + (uint64_t{1} << f.fraction_bits);
    set_scaled(x, significand, static_cast<long>(field) - f.bias - f.fraction_bits);
  }
  if (negative && !(mpfr_zero_p(x) && f.has(policy::zero_positive))) mpfr_neg(x, x, MPFR_RNDN);
}

mpfr_prec_t sum_precision_of(const Op& op) {
  const auto low = [](const FormatFields& f) { return f.integer ? 0 : f.least_bit() - 1; };
  const auto high = [](const FormatFields& f) { return f.integer ? f.width : f.emax() + 1; };
  int least = low(op.a.fields()) + low(op.b.fields()), greatest = high(op.a.fields()) + high(op.b.fields());
  if (op.has_scales()) {
    least += low(op.scale_a.fields()) + low(op.scale_b.fields());
    greatest += high(op.scale_a.fields()) + high(op.scale_b.fields());
  }
  for (const Format* f : {&op.c, &op.d}) {
    least = std::min(least, low(f->fields()));
    greatest = std::max(greatest, high(f->fields()));
  }
  return greatest - least + 32;  // carries of at most 2^17 addends
}

void set_operand(mpfr_ptr x, const Op& op, const Format& format, uint64_t encoding) {
  set_from_encoding(x, format, encoding);
  if (!op.flush_to_zero || !is_subnormal(format, encoding)) return;
  mpfr_set_zero(x, mpfr_signbit(x) && !format.fields().has(policy::zero_positive) ? -1 : 1);
}

MpfrRounded rounded_result(const Op& op, mpfr_srcptr x, bool truncated) {
  MpfrRounded r = round_mpfr(op.d, x, op.rounding_rule(), truncated);
  flush_result(op, r);
  return r;
}

MpfrRounded round_mpfr(const Format& format, mpfr_srcptr x, const RoundingRule& rule, bool truncated) {
  const FormatFields& f = format.fields();
  const bool negative = mpfr_signbit(x) != 0;
  if (mpfr_nan_p(x)) return {f.encode_nan(), 0};
  if (negative && !f.has_sign() && !mpfr_zero_p(x)) {
    if (f.has(policy::negative_absolute)) {
      Mpfr magnitude(mpfr_get_prec(x));
      mpfr_neg(magnitude.get(), x, MPFR_RNDN);
      return round_mpfr(format, magnitude.get(), rule, truncated);
    }
    if (!f.has(policy::tiny_negative_flushed) || mpfr_inf_p(x)) return negative_without_sign(f, rule);
  }
  if (mpfr_inf_p(x)) {
    if (f.has_infinity() && rule.overflow != Overflow::saturate) return {f.encode_infinity(negative), 0};
    RoundingRule nearest = rule;
    nearest.rounding = Rounding::nearest_even;
    const int flags = f.has(policy::infinity_invalid) ? flag::invalid : flag::overflow | flag::inexact;
    return {overflow_result(f, negative, nearest), static_cast<uint8_t>(flags)};
  }
  if (mpfr_zero_p(x)) {
    const bool no_zero = f.subnormals == SubnormalRule::absent;  // the result is then the least number
    return {f.encode_zero(negative), static_cast<uint8_t>(no_zero ? flag::underflow | flag::inexact : 0)};
  }
  if (truncated) {  // half a unit beyond the last bit replaces the dropped remainder
    Mpfr longer(mpfr_get_prec(x) + 2), half(64);
    mpfr_set_si_2exp(half.get(), negative ? -1 : 1, mpfr_get_exp(x) - mpfr_get_prec(x) - 1, MPFR_RNDN);
    must_be_exact(mpfr_add(longer.get(), x, half.get(), MPFR_RNDN));
    return round_mpfr(format, longer.get(), rule);
  }
  const int precision = f.fraction_bits + 1;
  const long emin = f.emin();
  const bool below_normal = mpfr_get_exp(x) - 1 < emin;
  if (below_normal && f.subnormals == SubnormalRule::absent)
    return {0, static_cast<uint8_t>(flag::underflow | flag::inexact)};
  if (below_normal && f.subnormals == SubnormalRule::literal) return round_below_least_normal(format, x, rule);

  const std::optional<mpfr_rnd_t> mode = below_normal ? std::nullopt : mode_of(rule.rounding);
  Mpfr rounded(mode ? precision : mpfr_get_prec(x) + 2);
  const bool inexact = mode ? mpfr_set(rounded.get(), x, *mode) != 0
                            : round_to_quantum(rounded.get(), x, precision, emin - f.fraction_bits, rule);
  uint8_t flags = inexact ? flag::inexact : 0;
  if (below_normal && (inexact || f.has(policy::underflow_exact)) && is_tiny(f, x, rule)) flags |= flag::underflow;
  const bool rounds_below = !mpfr_zero_p(rounded.get()) && mpfr_get_exp(rounded.get()) - 1 < emin;
  if (f.subnormals == SubnormalRule::flushed && (rounds_below || (below_normal && f.has(policy::flush_before))))
    return {f.encode_zero(negative), static_cast<uint8_t>(flag::underflow | flag::inexact)};
  if (negative && !f.has_sign() && !mpfr_zero_p(rounded.get())) return negative_without_sign(f, rule);
  if (mpfr_zero_p(rounded.get())) return {f.encode_zero(negative), flags};
  if (mpfr_get_exp(rounded.get()) >= f.emax()) {  // near the greatest, or beyond
    const bool is_beyond = mpfr_get_exp(rounded.get()) > f.emax() + 1;
    Mpfr limit(128);
    if (!is_beyond) set_greatest(limit.get(), format);
    if (is_beyond || mpfr_cmpabs(rounded.get(), limit.get()) > 0)
      return {overflow_result(f, negative, rule), static_cast<uint8_t>(flag::overflow | flag::inexact)};
    if (f.has(policy::overflow_before) && mpfr_cmpabs(x, limit.get()) > 0) flags |= flag::overflow;
  }
  return {encode_representable(f, rounded.get()), flags};
}

mpfr_prec_t scalar_precision_of(const Op& op) {
  const bool is_cut =
      op.scalar == ScalarOperation::div || op.scalar == ScalarOperation::sqrt || op.scalar == ScalarOperation::rcp;
  if (is_cut) return 256;
  const FormatFields& f = op.a.fields();
  if (f.integer || f.shared_bias) return sum_precision;
  // Bits for any product and a third number; with some biases all numbers of a format are below 1, or above.
  const int low = f.least_bit() - 1, high = f.emax() + 1;
  return std::max(high, 2 * high) - std::min(low, 2 * low) + 2;
}

bool mpfr_scalar_value(const Op& op, const uint64_t* operands, mpfr_ptr result) {
  return set_scalar_value(op, Operands(op, operands), result);
}

MpfrRounded mpfr_scalar(const Op& op, const uint64_t* encodings) {
  const Format& format = op.a;
  const Operands operands(op, encodings);
  Mpfr result(scalar_precision_of(op));
  const bool any_nan = operands.any_nan;
  bool signaling = false, subnormal = false;
  for (int i = 0; i < op.arity(); ++i) {
    signaling |= is_signaling(format, encodings[i]);
    subnormal |= is_subnormal(format, encodings[i]);
  }
  const bool truncated = set_scalar_value(op, operands, result.get());
  const bool divided_by_zero = mpfr_divby0_p() != 0;
  // The 1 of a comparison is its truth, also where it is a subnormal number of the format: nothing to flush.
  MpfrRounded r =
      compares(op.scalar) ? round_mpfr(op.d, result.get(), {}) : rounded_result(op, result.get(), truncated);
  if (compares(op.scalar)) r.flags = 0;  // a truth that the format cannot write as 1 is no overflow
  // The infinity of a division by zero is exact (IEEE 754-2019, 7.3): whatever a format without infinity, or
  // saturation, makes of it is no overflow.
  if (divided_by_zero) r.flags = flag::divide_by_zero;
  if (mpfr_nan_p(result.get()) && !any_nan) r.flags |= flag::invalid;
  const bool integral = op.scalar == ScalarOperation::round_to_integral;
  if (integral && op.signals_inexact && !any_nan && !mpfr_equal_p(result.get(), operands.x.get()))
    r.flags |= flag::inexact;
  // IEEE 754-2019, 5.11: less and less_equal signal on any NaN, equality and unordered are quiet; each of the first
  // three has a form of the other kind.
  const bool signals = op.scalar == ScalarOperation::less || op.scalar == ScalarOperation::less_equal ||
                       op.scalar == ScalarOperation::equal_signaling;
  if (signaling || (any_nan && signals)) r.flags |= flag::invalid;
  if (any_nan && format.fields().has(policy::any_nan_invalid)) r.flags |= flag::invalid;
  const bool outranked = any_nan || (r.flags & (flag::invalid | flag::divide_by_zero));
  if (subnormal && !outranked && !op.flush_to_zero && !integral) r.flags |= flag::denormal_operand;
  if (format.fields().has(policy::no_inexact)) r.flags &= static_cast<uint8_t>(~flag::inexact);
  return r;
}

MpfrRounded mpfr_convert(const Op& op, uint64_t source) {
  Mpfr x(64);
  set_operand(x.get(), op, op.a, source);
  if (op.d.fields().integer) {
    MpfrRounded r = convert_to_integer(op, x.get(), source);
    if (is_signaling(op.a, source)) r.flags |= flag::invalid;
    if (op.a.fields().has(policy::no_inexact)) r.flags &= static_cast<uint8_t>(~flag::inexact);
    if (op.a.fields().has(policy::conversions_silent)) r.flags = 0;
    return r;
  }
  const FormatFields& to = op.d.fields();
  MpfrRounded r = round_mpfr(op.d, x.get(), op.rounding_rule_of(source));
  flush_result(op, r);
  const bool nan = mpfr_nan_p(x.get()) != 0;
  const FormatFields& from = op.a.fields();
  if (nan && (!to.has_nan() || to.has(policy::any_nan_invalid))) r.flags |= flag::invalid;
  // A NaN that is the code of -0 has no sign.
  const bool nan_has_sign = from.has_sign() && !from.minus_zero_is_nan();
  if (nan && !to.has_nan() && to.has(policy::nan_signed))
    r.encoding = to.encode_greatest((source >> (from.width - 1)) & nan_has_sign);
  if (is_signaling(op.a, source)) r.flags |= flag::invalid;
  if (is_subnormal(op.a, source) && !(r.flags & flag::invalid) && !op.flush_to_zero) r.flags |= flag::denormal_operand;
  if (to.has(policy::no_inexact)) r.flags &= static_cast<uint8_t>(~flag::inexact);
  if (from.has(policy::conversions_silent) || to.has(policy::conversions_silent)) r.flags = 0;
  return r;
}

void set_product(mpfr_ptr product, const Op& op, const DotOperands& in, int i) {
  Mpfr factor(64);
  set_operand(product, op, op.a, in.a[i]);
  const auto multiply = [&](const Format& format, uint64_t encoding) {
    set_operand(factor.get(), op, format, encoding);
    must_be_exact(mpfr_mul(product, product, factor.get(), MPFR_RNDN));
  };
  multiply(op.b, in.b[i]);
  if (!op.has_scales()) return;
  multiply(op.scale_a, in.scale_a[i / op.scale_block]);
  multiply(op.scale_b, in.scale_b[i / op.scale_block]);
}

void mpfr_dot_value(const Op& op, const DotOperands& in, mpfr_ptr sum) { sum_dot(op, in, sum); }

uint64_t mpfr_dot(const Op& op, const DotOperands& in) {
  Mpfr sum(sum_precision_of(op));
  const SignsSeen seen = sum_dot(op, in, sum.get());
  if (mpfr_zero_p(sum.get())) {
    const bool negative = seen.all_negative || (!seen.all_positive && op.rounding == Rounding::down);
    return op.d.fields().encode_zero(negative);
  }
  return rounded_result(op, sum.get()).encoding;
}

double ulp_error(const Format& format, mpfr_srcptr exact, uint64_t encoding) {
  Mpfr value(64), difference(mpfr_get_prec(exact) + 2 * sum_precision);
  set_from_encoding(value.get(), format, encoding);
  if (!mpfr_number_p(value.get()) || !mpfr_number_p(exact)) return std::nan("");
  must_be_exact(mpfr_sub(difference.get(), value.get(), exact, MPFR_RNDN));
  const FormatFields& f = format.fields();
  const long leading = mpfr_zero_p(exact) ? f.emin() : std::max<long>(mpfr_get_exp(exact) - 1, f.emin());
  must_be_exact(mpfr_mul_2si(difference.get(), difference.get(), f.fraction_bits - leading, MPFR_RNDN));
  return mpfr_get_d(difference.get(), MPFR_RNDN);
}

}  // namespace mmafuzz::exact
