// Conversion of fp32 (or of bf16, widened to fp32) to one format of at most 10 fraction bits, in 32-bit integers
// without a branch on the common path: everything that depends on the format and the rounding alone is computed once.
// The vector codec (oracles/convert/bulk_convert_simd.cc) does the same in lanes; round.h is the slow form of both. The
// *hole* is the gap below the least normal number that literal subnormals leave (docs/semantics.md 9).
#pragma once

#include "arithmetic/ieee_operations.h"

namespace mmafuzz {

/// A format and a rounding as constants. Magnitudes are fp32 encodings without the sign, whose order is that of the
/// numbers. Arrays of two are indexed by the source's sign (1: negative). Results are codes: encodings without ignored
/// low bits.
struct BulkPlan {
  FormatFields to;
  RoundingRule rule;   ///< its random bits are given with each element
  int32_t shift = 0;   ///< fp32 fraction bits that a normal result drops
  int32_t rebias = 0;  ///< exponent field of the result minus that of fp32, minus one: adding the leading one adds one
  bool round_away[2] = {};               ///< whether a directed mode moves magnitudes of this sign away from zero
  bool flagged = true;                   ///< whether results have flags
  uint32_t sign = 0, greatest_code = 0;  ///< the sign bit, and the code of the greatest finite number
  uint32_t zero[2] = {}, overflow[2] = {}, infinity[2] = {}, nan[2] = {},
           negative = 0;  ///< the result of each class of source or outcome
  uint8_t infinity_flags[2] = {}, negative_flags = 0;
  bool refuses_negative = false;    ///< nonzero negative sources become `negative`
  bool negatives_flushed = false;   ///< except those whose magnitude becomes zero, which give zero
  uint32_t least_normal = 0;        ///< magnitudes below it are tiny before rounding
  uint32_t least_not_tiny[2] = {};  ///< magnitudes below it are tiny under rule.tininess, unless a draw decides
  uint32_t tiny_drawn_from = 0;   ///< from here to least_normal a draw decides on tininess (stochastic, after rounding)
  int32_t tiny_drop = 0;          ///< fp32 fraction bits dropped in that range with an unbounded exponent
  uint32_t hole_from = 0;         ///< magnitude of the greatest subnormal, the lower end of the hole; 0: no hole
  uint32_t hole_up_from[2] = {};  ///< magnitudes in the hole from this one on round up to least_normal
  uint32_t hole_top = 0;          ///< code of the greatest subnormal
  bool hole_drawn = false;        ///< a draw decides which end of the hole a number in it takes
  int32_t hole_field = 0;  ///< fp32 exponent field of hole_from, whose last fp32 bit is the unit of the next two:
  uint32_t hole_origin = 0, hole_gap = 0;  ///< where the hole begins, and its width, below 2^25
  uint32_t greatest_magnitude = 0;         ///< fp32 encoding of the greatest finite number
};

namespace detail {

/// The magnitude in fp32 of significand * 2^exponent, cut toward zero.
MMAFUZZ_HD inline uint32_t fp32_magnitude(uint64_t significand, int exponent) {
  const RoundingRule cut = {.rounding = Rounding::toward_zero};
  return static_cast<uint32_t>(round_once(ieee_fields(8, 23), /*negative=*/false, significand, exponent, cut).encoding);
}

/// The significand of a normal fp32 magnitude.
MMAFUZZ_HD inline uint32_t with_leading_one(uint32_t magnitude) { return (magnitude & 0x7fffffu) | 0x800000u; }

}  // namespace detail

/// Whether make_bulk_plan takes the format: fp32 has every number of it and at least 13 more fraction bits.
MMAFUZZ_HD inline bool has_bulk_plan(const FormatFields& to) {
  return !to.integer && to.fraction_bits <= 10 && to.least_bit() >= -149 && to.emin() >= -127 && to.emax() <= 127;
}

MMAFUZZ_HD inline BulkPlan make_bulk_plan(const FormatFields& to, const RoundingRule& rule) {
  BulkPlan p;
  p.to = to;
  p.rule = rule;
  p.shift = 23 - to.fraction_bits;
  p.rebias = to.bias - 128;
  p.flagged = !to.has(policy::conversions_silent);
  p.sign = static_cast<uint32_t>(to.sign_bit());
  p.greatest_code = static_cast<uint32_t>(to.greatest_magnitude());
  p.refuses_negative = !to.has_sign() && !to.has(policy::negative_absolute);
  p.negatives_flushed = p.refuses_negative && to.has(policy::tiny_negative_flushed);
  const auto code = [&](uint64_t encoding) { return static_cast<uint32_t>(encoding >> to.ignored_low_bits); };
  for (int s = 0; s < 2; ++s) {
    const bool negative = s == 1 && (to.has_sign() || p.negatives_flushed);
    p.round_away[s] = (rule.rounding == Rounding::up && !negative) || (rule.rounding == Rounding::down && negative);
    p.zero[s] = code(to.encode_zero(negative));
    p.overflow[s] = code(detail::overflowed(to, negative, rule));
    const Rounded infinity = rounded_infinity(to, negative, rule);
    p.infinity[s] = code(infinity.encoding);
    p.infinity_flags[s] = infinity.flags;
    p.nan[s] = code(!to.has_nan() && to.has(policy::nan_signed) ? to.encode_greatest(s == 1) : to.encode_nan());
  }
  if (p.refuses_negative) {
    const Rounded negative = rounded_negative_unsigned(to, rule);
    p.negative = code(negative.encoding);
    p.negative_flags = negative.flags;
  }
  const int precision = to.precision();
  p.least_normal = detail::fp32_magnitude(1, to.emin());
  p.greatest_magnitude =
      detail::fp32_magnitude((p.greatest_code & to.fraction_mask()) | (uint64_t{1} << to.fraction_bits),
                             static_cast<int>(p.greatest_code >> to.fraction_bits) - to.bias - to.fraction_bits);
  // The greatest number of `precision` bits below 2^emin, and the middle between it and 2^emin.
  const uint32_t below = detail::fp32_magnitude((uint64_t{1} << precision) - 1, to.emin() - precision);
  const uint32_t middle = detail::fp32_magnitude((uint64_t{2} << precision) - 1, to.emin() - precision - 1);
  p.tiny_drawn_from =
      rule.rounding == Rounding::stochastic && rule.tininess == Tininess::after ? below + 1 : p.least_normal;
  // Where emin < -125, the numbers just below 2^emin are subnormal in fp32 and have fewer bits to drop.
  p.tiny_drop = p.shift - larger(-125 - to.emin(), 0);
  for (int s = 0; s < 2; ++s) {
    p.least_not_tiny[s] = p.least_normal;
    if (rule.tininess == Tininess::before) continue;
    if (rule.rounding == Rounding::nearest_even || rule.rounding == Rounding::nearest_away)
      p.least_not_tiny[s] = middle;
    if (p.round_away[s]) p.least_not_tiny[s] = below + 1;
  }
  if (to.subnormals == SubnormalRule::literal) {
    const uint64_t top = to.fraction_mask();
    p.hole_top = static_cast<uint32_t>(top);
    p.hole_from = detail::fp32_magnitude(top, to.least_bit() - 1);
    p.hole_drawn = rule.rounding == Rounding::stochastic && !to.has(policy::hole_nearest);
    p.hole_field = static_cast<int32_t>(p.hole_from >> 23);
    p.hole_origin = detail::with_leading_one(p.hole_from);
    p.hole_gap =
        (detail::with_leading_one(p.least_normal) << (static_cast<int32_t>(p.least_normal >> 23) - p.hole_field)) -
        p.hole_origin;
    // (top * 2^(least_bit - 1) + 2^emin) / 2
    const uint32_t hole_middle = detail::fp32_magnitude(top + (uint64_t{2} << to.fraction_bits), to.least_bit() - 2);
    for (int s = 0; s < 2; ++s) {
      p.hole_up_from[s] = hole_middle + (to.has(policy::hole_tie_down) ? 1 : 0);
      if (rule.rounding == Rounding::toward_zero) p.hole_up_from[s] = p.least_normal;
      if (rule.rounding == Rounding::odd) p.hole_up_from[s] = top % 2 ? p.least_normal : p.hole_from + 1;
      if (rule.rounding == Rounding::up || rule.rounding == Rounding::down)
        p.hole_up_from[s] = p.round_away[s] ? p.hole_from + 1 : p.least_normal;
    }
  }
  return p;
}

struct BulkResult {
  uint32_t encoding;
  uint8_t flags;
};

/// Converts one fp32 encoding by the slow path (round.h), which takes all.
MMAFUZZ_HD inline BulkResult convert_slowly(const BulkPlan& p, uint32_t source, uint32_t random) {
  RoundingRule rule = p.rule;
  rule.random = random;
  const Rounded r = convert_number(p.to, decode(ieee_fields(8, 23), source), rule);
  return {static_cast<uint32_t>(r.encoding), static_cast<uint8_t>(p.flagged ? r.flags : 0)};
}

/// Whether a magnitude needs the slow path: numbers below fp32's least normal one for a format without subnormals.
MMAFUZZ_HD inline bool is_slow(const BulkPlan& p, uint32_t magnitude) {
  return p.to.subnormals == SubnormalRule::absent && magnitude < 0x00800000u;
}

/// T of stochastic rounding (Threshold) where `drop` >= 1 low bits of a significand of 24 bits are discarded.
MMAFUZZ_HD inline uint32_t draw_threshold(const RoundingRule& rule, uint32_t significand, int32_t drop) {
  const uint32_t discarded = drop < 32 ? significand & ((1u << drop) - 1) : significand;
  const uint32_t scaled = drop < 32   ? discarded << (32 - drop)
                          : drop < 64 ? significand >> (drop - 32)
                                      : 0;  // in units of 2^-32
  const bool rest = drop > 32 && significand != 0 && (drop > 63 || (significand & ((1u << (drop - 32)) - 1)) != 0);
  const int unused = 32 - rule.random_bits;
  uint32_t threshold = scaled >> unused;
  if (rule.threshold == Threshold::ceiling) threshold += (scaled & ((1u << unused) - 1)) != 0 || rest;
  if (rule.threshold == Threshold::nearest) threshold += (scaled >> (unused - 1)) & 1;
  return threshold;
}

/// Whether stochastic rounding takes the upper end of the hole: random < T (Threshold) of the part of the gap that lies
/// below the magnitude, with both sides multiplied by twice the gap. With t = T before its rounding, floor
/// is random + 1 <= t, nearest random + 1/2 <= t, ceiling random < t.
MMAFUZZ_HD inline bool draws_out_of_hole(const BulkPlan& p, uint32_t magnitude, uint32_t random) {
  const uint32_t part =
      (detail::with_leading_one(magnitude) << (static_cast<int32_t>(magnitude >> 23) - p.hole_field)) - p.hole_origin;
  const uint64_t scaled = uint64_t{part} << (p.rule.random_bits + 1), drawn = 2 * uint64_t{random} * p.hole_gap;
  if (p.rule.threshold == Threshold::ceiling) return drawn < scaled;
  return drawn + (p.rule.threshold == Threshold::floor ? 2 : 1) * uint64_t{p.hole_gap} <= scaled;
}

/// Converts one fp32 encoding. `random`: below 2^random_bits, for stochastic rounding.
MMAFUZZ_HD inline BulkResult convert_bulk(const BulkPlan& p, uint32_t source, uint32_t random = 0) {
  const uint32_t magnitude = source & 0x7fffffffu;
  const int s = static_cast<int>(source >> 31);
  if (is_slow(p, magnitude)) return convert_slowly(p, source, random);
  const uint32_t field = magnitude >> 23, implicit = field != 0;
  const uint32_t significand = (magnitude & 0x7fffffu) | (implicit << 23);
  // The exponent field of the result, minus one; negative below the least normal number.
  const int32_t exponent = static_cast<int32_t>(field + 1 - implicit) + p.rebias;
  const int32_t base = exponent < 0 ? 0 : exponent;
  const bool literal = p.hole_from != 0 && exponent < 0;
  const int32_t full_drop = p.shift + base - exponent - (literal ? 1 : 0), drop = smaller<int32_t>(full_drop, 31);
  const uint32_t kept = significand >> drop, discarded = significand & ((1u << drop) - 1), half = 1u << (drop - 1);
  bool away = p.round_away[s] && discarded != 0;
  if (p.rule.rounding == Rounding::nearest_even) away = discarded + (kept & 1) > half;
  if (p.rule.rounding == Rounding::nearest_away) away = discarded >= half;
  if (p.rule.rounding == Rounding::odd) away = discarded != 0 && !(kept & 1);
  if (p.rule.rounding == Rounding::stochastic) away = random < draw_threshold(p.rule, significand, full_drop);
  bool inexact = discarded != 0, tiny = magnitude < p.least_not_tiny[s];
  if (tiny && magnitude >= p.tiny_drawn_from) tiny = random >= draw_threshold(p.rule, significand, p.tiny_drop);
  uint32_t code = (static_cast<uint32_t>(base) << p.to.fraction_bits) + kept + (away ? 1 : 0);
  if (p.hole_from != 0 && magnitude > p.hole_from && magnitude < p.least_normal) {
    const bool up = p.hole_drawn ? draws_out_of_hole(p, magnitude, random) : magnitude >= p.hole_up_from[s];
    code = p.hole_top + (up ? 1 : 0);
    inexact = true;
  }
  uint8_t flags = 0;
  if (p.to.subnormals == SubnormalRule::absent) {
    tiny = false;
  } else if (p.to.subnormals == SubnormalRule::flushed &&
             ((code != 0 && code < (1u << p.to.fraction_bits)) ||
              (p.to.has(policy::flush_before) && magnitude < p.least_normal && magnitude != 0))) {
    code = 0;
    flags |= flag::underflow | flag::inexact;
  }
  if (inexact) flags |= flag::inexact;
  if (tiny && magnitude != 0 && (inexact || p.to.has(policy::underflow_exact))) flags |= flag::underflow;
  uint32_t result = code == 0 ? p.zero[s] : code | (s ? p.sign : 0);
  if (code > p.greatest_code) {
    result = p.overflow[s];
    flags |= flag::overflow | flag::inexact;
  }
  if (p.to.has(policy::overflow_before) && magnitude > p.greatest_magnitude) flags |= flag::overflow;
  if (p.refuses_negative && s && magnitude != 0 && !(p.negatives_flushed && code == 0)) {
    result = p.negative;
    flags = p.negative_flags;
  }
  if (field == 0 && magnitude != 0 && !(flags & flag::invalid)) flags |= flag::denormal_operand;
  if (magnitude >= 0x7f800000u) {
    result = p.infinity[s];
    flags = p.infinity_flags[s];
    if (p.refuses_negative && s) {
      result = p.negative;
      flags = p.negative_flags;
    }
    if (magnitude > 0x7f800000u) {
      const bool invalid = !p.to.has_nan() || p.to.has(policy::any_nan_invalid) || !(magnitude & 0x400000u);
      result = p.nan[s];
      flags = invalid ? flag::invalid : 0;
    }
  }
  if (p.to.has(policy::no_inexact)) flags &= static_cast<uint8_t>(~flag::inexact);
  return {static_cast<uint32_t>(p.to.in_container(result)), static_cast<uint8_t>(p.flagged ? flags : 0)};
}

/// bf16 is the upper half of fp32.
MMAFUZZ_HD inline uint32_t fp32_of_bf16(uint16_t source) { return static_cast<uint32_t>(source) << 16; }

}  // namespace mmafuzz
