// Round once: from an exact value to an encoding, in the five IEEE 754 rounding modes, to odd or at random, with flags.
#pragma once

#include "arithmetic/counter_rng.h"
#include "arithmetic/decode.h"
#include "arithmetic/wide_int.h"

namespace mmafuzz {

/// odd: the inexact magnitude's neighbour whose last bit is set (docs/semantics.md 12).
enum class Rounding : uint8_t { nearest_even, toward_zero, up, down, nearest_away, odd, stochastic };

/// When a result counts as tiny (IEEE 754-2019, 7.5): after rounding to an unbounded exponent, or before.
enum class Tininess : uint8_t { after, before };

/// What a result beyond the greatest finite number becomes.
enum class Overflow : uint8_t {
  by_rounding,  ///< IEEE 754-2019, 7.4: infinity or the greatest number, as the rounding mode says
  infinity,     ///< always infinity, also toward zero (matrix units, docs/semantics.md 1.7)
  saturate,     ///< always the greatest finite number
};

/// Status flags, with the values of the case text (docs/case-text.md).
namespace flag {
inline constexpr uint8_t inexact = 0x01;
inline constexpr uint8_t underflow = 0x02;
inline constexpr uint8_t overflow = 0x04;
inline constexpr uint8_t divide_by_zero = 0x08;
inline constexpr uint8_t invalid = 0x10;
inline constexpr uint8_t denormal_operand = 0x20;
inline constexpr uint8_t all = 0x3f;
}  // namespace flag

/// How stochastic rounding compares: a discarded part of f (in 0..1) of the gap between the two neighbours and
/// `random_bits` random bits r move the magnitude up iff r < T, T being f * 2^random_bits made an integer as named.
enum class Threshold : uint8_t { floor, ceiling, nearest };

/// The maximum of RoundingRule::random_bits.
inline constexpr int max_random_bits = 31;

struct RoundingRule {
  Rounding rounding = Rounding::nearest_even;
  Tininess tininess = Tininess::after;
  Overflow overflow = Overflow::by_rounding;
  Threshold threshold = Threshold::floor;
  uint8_t random_bits = 24;  ///< 1..max_random_bits
  uint32_t random = 0;       ///< r of Threshold for one element, below 2^random_bits (random_word)
};

/// The random bits of an element: the first draw of the counter-based stream (seed, index), its highest bits.
MMAFUZZ_HD inline uint32_t random_word(uint64_t seed, uint64_t index, int random_bits) {
  return static_cast<uint32_t>(CounterRng(seed, index).next() >> (64 - random_bits));
}

/// A rounded result with what happened on the way; guard and sticky are those of the discarded part.
struct Rounded {
  uint64_t encoding = 0;
  uint8_t flags = 0;
  bool negative = false;
  bool last = false;    ///< last bit of the significand before rounding
  bool guard = false;   ///< first discarded bit
  bool sticky = false;  ///< any discarded bit below it
  bool rounded_away = false;
  int quantum = 0;  ///< weight of the result's last bit before a carry-out
};

MMAFUZZ_HD inline bool is_nearest(Rounding rounding) {
  return rounding == Rounding::nearest_even || rounding == Rounding::nearest_away;
}

/// Whether a magnitude with these discarded bits moves away from zero.
MMAFUZZ_HD inline bool rounds_away(Rounding rounding, bool negative, bool last, bool guard, bool sticky) {
  switch (rounding) {
    case Rounding::nearest_even: return guard && (sticky || last);
    case Rounding::nearest_away: return guard;
    case Rounding::up: return !negative && (guard || sticky);
    case Rounding::down: return negative && (guard || sticky);
    case Rounding::odd: return !last && (guard || sticky);
    case Rounding::toward_zero:
    case Rounding::stochastic:  // needs more than two bits: detail::moves_away
      break;
  }
  return false;
}

namespace detail {

/// A significand cut in two.
struct CutBits {
  uint64_t kept;
  bool guard, sticky;
};

/// significand * 2^exponent (+ sticky) cut at weight 2^quantum. Where quantum < exponent, the significand must have
/// room for the left shift.
MMAFUZZ_HD inline CutBits cut_at(uint64_t significand, int exponent, bool sticky, int quantum) {
  const int drop = quantum - exponent;
  if (drop <= 0) return {significand << -drop, false, sticky};
  if (drop > 64) return {0, false, sticky || significand != 0};
  const bool guard = (significand >> (drop - 1)) & 1;
  const bool below = sticky || (significand & low_mask(drop - 1)) != 0;
  return {drop == 64 ? 0 : significand >> drop, guard, below};
}

/// Whether stochastic rounding moves away: random < T of the fraction discarded / gap, which is below 1.
MMAFUZZ_HD_CALL inline bool draws_away(const RoundingRule& rule, uint64_t discarded, uint128 gap) {
  const uint128 scaled = uint128{discarded} << rule.random_bits;
  const bool narrow = ((scaled | gap) >> 64) == 0;  // the usual case, in which a division is much cheaper
  uint128 threshold = narrow ? static_cast<uint64_t>(scaled) / static_cast<uint64_t>(gap) : scaled / gap;
  const uint128 rest = scaled - threshold * gap;
  if (rule.threshold == Threshold::ceiling && rest != 0) ++threshold;
  if (rule.threshold == Threshold::nearest && rest >= gap - rest) ++threshold;
  return rule.random < threshold;
}

/// Whether a magnitude cut at weight 2^quantum moves away from zero, in every rounding mode; stochastic rounding takes
/// exact values, without a sticky part.
MMAFUZZ_HD inline bool moves_away(const RoundingRule& rule, bool negative, uint64_t significand, int exponent,
                                  int quantum, const CutBits& cut) {
  if (rule.rounding != Rounding::stochastic)
    return rounds_away(rule.rounding, negative, cut.kept & 1, cut.guard, cut.sticky);
  const int drop = quantum - exponent;
  // Beyond 126 bits the discarded part is so small that T is 0, or 1 where it is rounded up.
  if (drop <= 0 || drop > 126) return drop > 0 && rule.threshold == Threshold::ceiling && rule.random == 0;
  return draws_away(rule, significand & low_mask(drop), uint128{1} << drop);
}

/// Whether a magnitude in the hole below the least normal number rounds up to that. The hole spans from `top` to
/// `normal`, in units of 2^quantum. A tie goes to `normal`, whose encoding is the even one, unless the format's policy
/// says otherwise.
MMAFUZZ_HD_CALL inline bool leaves_hole_upward(const FormatFields& f, const RoundingRule& rule, bool negative,
                                               uint64_t significand, int exponent, bool sticky, int quantum,
                                               uint64_t top, uint64_t normal) {
  const CutBits cut = cut_at(significand, exponent, sticky, quantum);
  const uint64_t twice = 2 * cut.kept + (cut.guard ? 1 : 0);
  const bool tie = twice == top + normal && !cut.sticky;
  switch (rule.rounding) {
    case Rounding::toward_zero: return false;
    case Rounding::up: return !negative;
    case Rounding::down: return negative;
    case Rounding::odd: return top % 2 == 0;
    case Rounding::stochastic:
      if (!f.has(policy::hole_nearest)) {
        const int drop = larger(quantum - exponent, 0);  // at most 64: the magnitude has bits of weight 2^quantum
        const uint64_t units = quantum < exponent ? significand << (exponent - quantum) : significand;
        return draws_away(rule, units - (top << drop), uint128{normal - top} << drop);
      }
      break;
    default: break;
  }
  return tie ? !f.has(policy::hole_tie_down) : twice >= top + normal;
}

/// The encoding of a result beyond the greatest finite number.
MMAFUZZ_HD inline uint64_t overflowed(const FormatFields& f, bool negative, const RoundingRule& rule) {
  bool to_infinity = rule.overflow != Overflow::saturate;
  if (rule.overflow == Overflow::by_rounding) {
    if (rule.rounding == Rounding::toward_zero || rule.rounding == Rounding::odd) to_infinity = false;
    if (rule.rounding == Rounding::up) to_infinity = !negative;
    if (rule.rounding == Rounding::down) to_infinity = negative;
  }
  if (!to_infinity || f.specials == Specials::none)
    return f.encode_greatest(negative && !f.has(policy::clamp_positive));
  if (f.has_infinity()) return f.encode_infinity(negative);
  return f.encode_nan() | (f.specials == Specials::fn && negative ? f.sign_bit() : 0);
}

}  // namespace detail

/// The result of a negative value in a format without signs (e8m0, ue4m3, uhp): NaN, or zero where the rule saturates,
/// the format has no NaN or its policy says so; with the invalid flag.
MMAFUZZ_HD inline Rounded rounded_negative_unsigned(const FormatFields& f, const RoundingRule& rule) {
  Rounded r;
  r.negative = true;
  r.flags = flag::invalid;
  const bool to_nan = f.has_nan() && rule.overflow != Overflow::saturate && !f.has(policy::negative_zero);
  r.encoding = to_nan ? f.encode_nan() : f.encode_zero(false);
  return r;
}

/// An exact zero of this sign. e8m0 has none: the least number is the nearest.
MMAFUZZ_HD inline Rounded rounded_zero(const FormatFields& f, bool negative) {
  Rounded r;
  r.negative = negative;
  r.encoding = f.encode_zero(negative);
  if (f.subnormals == SubnormalRule::absent && !f.integer) r.flags = flag::underflow | flag::inexact;
  return r;
}

/// Rounds (-1)^negative * (significand * 2^exponent + sticky) once to format f. `sticky` stands for a positive part
/// smaller than one unit of the significand, which must then have at least precision + 2 bits. Literal CFloat
/// subnormals (docs/semantics.md 9) leave a hole below the least normal number, which detail::leaves_hole_upward
/// rounds.
MMAFUZZ_HD_CALL inline Rounded round_once(const FormatFields& f, bool negative, uint64_t significand, int exponent,
                                          const RoundingRule& rule = {}, bool sticky = false) {
  if (significand == 0) return rounded_zero(f, negative);
  Rounded r;
  r.negative = negative;
  bool refused = negative && !f.has_sign();
  if (refused && f.has(policy::negative_absolute)) refused = r.negative = negative = false;
  if (refused && !f.has(policy::tiny_negative_flushed)) return rounded_negative_unsigned(f, rule);
  const int leading = exponent + bit_length(significand) - 1;
  const bool literal = f.subnormals == SubnormalRule::literal && leading < f.emin();
  const int least = f.least_bit() - (literal ? 1 : 0);
  const int quantum = larger(leading - f.fraction_bits, least);
  const detail::CutBits cut = detail::cut_at(significand, exponent, sticky, quantum);
  r.quantum = quantum;
  r.last = cut.kept & 1;
  r.guard = cut.guard;
  r.sticky = cut.sticky;
  const bool inexact = cut.guard || cut.sticky;
  r.rounded_away = detail::moves_away(rule, negative, significand, exponent, quantum, cut);
  uint64_t kept = cut.kept + (r.rounded_away ? 1 : 0);
  if (inexact) r.flags |= flag::inexact;

  bool tiny = leading < f.emin();
  if (tiny && rule.tininess == Tininess::after && leading == f.emin() - 1) {
    // Tiny after rounding: round as if the exponent range were unbounded.
    const detail::CutBits unbounded = detail::cut_at(significand, exponent, sticky, leading - f.fraction_bits);
    const bool away = detail::moves_away(rule, negative, significand, exponent, leading - f.fraction_bits, unbounded);
    tiny = unbounded.kept + (away ? 1 : 0) < (uint64_t{1} << f.precision());
  }
  const uint64_t least_normal = uint64_t{1} << f.fraction_bits;  // as a code
  if (literal) {
    const uint64_t top = f.fraction_mask();  // the greatest subnormal significand
    if (cut.kept > top || (cut.kept == top && inexact)) {
      const uint64_t normal = 2 * least_normal;
      const bool up =
          detail::leaves_hole_upward(f, rule, negative, significand, exponent, sticky, quantum, top, normal);
      r.flags |= flag::inexact;
      kept = up ? normal : top;
      r.rounded_away = up;
    }
    if (tiny && (f.has(policy::underflow_exact) || (r.flags & flag::inexact))) r.flags |= flag::underflow;
    const uint64_t code = kept > top ? least_normal : kept;
    r.encoding = code == 0 ? f.encode_zero(negative) : f.in_container(code | (negative ? f.sign_bit() : 0));
    return r;
  }

  if (f.subnormals == SubnormalRule::absent) {
    // e8m0 has neither zero nor subnormals: what is below the least number becomes the least number.
    if (leading < f.emin()) {
      r.flags |= flag::underflow | flag::inexact;
      r.encoding = 0;
      return r;
    }
    tiny = false;
  }
  if (tiny && (inexact || f.has(policy::underflow_exact))) r.flags |= flag::underflow;

  // kept <= 2^precision; adding instead of or-ing lets a carry-out walk into the exponent field.
  const int field = quantum == f.least_bit() && kept < least_normal ? 0 : quantum + f.fraction_bits + f.bias;
  uint64_t code = kept;
  if (field != 0 || f.subnormals == SubnormalRule::absent) code += (uint64_t(field) << f.fraction_bits) - least_normal;
  if (f.subnormals == SubnormalRule::flushed &&
      ((code != 0 && code < least_normal) || (f.has(policy::flush_before) && leading < f.emin()))) {
    code = 0;
    r.flags |= flag::underflow | flag::inexact;
  }
  if (refused && code != 0) return rounded_negative_unsigned(f, rule);
  if (field > f.top_exponent_field() || code > f.greatest_magnitude()) {
    r.flags |= flag::overflow | flag::inexact;
    r.encoding = detail::overflowed(f, negative, rule);
    return r;
  }
  if (code == 0) {
    r.encoding = f.encode_zero(negative);
    return r;
  }
  if (f.has(policy::overflow_before) && code == f.greatest_magnitude() && inexact && !r.rounded_away)
    r.flags |= flag::overflow;
  r.encoding = f.in_container(code | (negative ? f.sign_bit() : 0));
  return r;
}

/// Whether an exactly zero sum is -0 (IEEE 754-2019, 6.3): it has the addends' common sign, else + except when rounding
/// down.
MMAFUZZ_HD inline bool zero_sum_sign(bool all_negative, bool all_positive, Rounding rounding) {
  if (all_negative) return true;
  if (all_positive) return false;
  return rounding == Rounding::down;
}

/// Rounds a two's complement accumulator whose unit weighs 2^exponent once; a zero gets the given sign.
template <int Words>
MMAFUZZ_HD Rounded round_wide(const FormatFields& f, WideInt<Words> value, int exponent, bool zero_negative,
                              const RoundingRule& rule) {
  const bool negative = value.is_negative();
  if (negative) value.negate();
  if (value.is_zero()) return rounded_zero(f, zero_negative);
  const Compressed c = compress(value, exponent);
  return round_once(f, negative, c.significand, c.exponent, rule, c.sticky);
}

}  // namespace mmafuzz
