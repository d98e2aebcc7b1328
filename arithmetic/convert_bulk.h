// Conversion of fp32 to one format of at most 10 fraction bits (and through it of bf16), in 32-bit integers without a branch on
// the common path: everything that depends on the format and the rounding alone is worked out once. The vector codec
// (oracles/units/bulk_convert_simd.cc) does the same in lanes; round.h is the slow twin of both.
#pragma once

#include "arithmetic/ieee_operations.h"

namespace mmafuzz {

/// A format and a rounding as constants. Magnitudes are fp32 encodings without the sign, whose order is that of the numbers.
struct BulkPlan {
  FormatFields to;
  RoundingRule rule;   ///< its random bits are given with each element
  int32_t shift = 0;   ///< fp32 fraction bits that a normal result drops
  int32_t rebias = 0;  ///< exponent field of the result less that of fp32, less one: the significand brings its leading one
  bool round_away[2] = {};  ///< by the source's sign: a directed mode that moves this sign's magnitudes away from zero
  bool flagged = true;
  uint32_t sign = 0, greatest = 0;
  uint32_t zero[2] = {}, overflow[2] = {}, infinity[2] = {}, nan[2] = {}, negative = 0;  ///< results by sign, without ignored low bits
  uint8_t infinity_flags[2] = {}, negative_flags = 0;
  bool signless = false;  ///< negative sources become `negative`
  uint32_t least_normal = 0;       ///< below: tiny before rounding
  uint32_t least_not_tiny[2] = {}; ///< below: tiny as the rule says; stochastic: exact only below tiny_depends_from
  uint32_t tiny_depends_from = 0;
  uint32_t hole_from = 0;          ///< greatest subnormal; the hole lies above it, below least_normal (literal subnormals)
  uint32_t hole_up_from[2] = {};   ///< from here on the hole is left upward
  uint32_t hole_top = 0;           ///< encoding of the greatest subnormal
  uint32_t greatest_magnitude = 0; ///< of the greatest number
};

namespace detail {

/// The magnitude in fp32 of significand * 2^exponent, cut toward zero.
MMAFUZZ_HD inline uint32_t fp32_magnitude(uint64_t significand, int exponent) {
  RoundingRule cut;
  cut.rounding = Rounding::toward_zero;
  return static_cast<uint32_t>(round_once(ieee_fields(8, 23), false, significand, exponent, false, cut).encoding);
}

}  // namespace detail

/// Whether make_bulk_plan takes the format: every number of it is one of fp32, and enough fraction bits are dropped.
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
  p.greatest = static_cast<uint32_t>(to.greatest_magnitude());
  p.signless = !to.has_sign() && !to.has(policy::negative_absolute);
  const auto code = [&](uint64_t encoding) { return static_cast<uint32_t>(encoding >> to.ignored_low_bits); };
  for (int s = 0; s < 2; ++s) {
    const bool negative = s == 1 && to.has_sign();
    p.round_away[s] = (rule.rounding == Rounding::up && !negative) || (rule.rounding == Rounding::down && negative);
    p.zero[s] = code(to.encode_zero(negative));
    p.overflow[s] = code(detail::overflowed(to, negative, rule));
    const Rounded infinity = rounded_infinity(to, negative, rule);
    p.infinity[s] = code(infinity.encoding);
    p.infinity_flags[s] = infinity.flags;
    p.nan[s] = code(!to.has_nan() && to.has(policy::nan_signed) ? to.encode_greatest(s == 1) : to.encode_nan());
  }
  if (p.signless) {
    const Rounded negative = rounded_negative_unsigned(to, rule);
    p.negative = code(negative.encoding);
    p.negative_flags = negative.flags;
  }
  const int precision = to.precision();
  p.least_normal = detail::fp32_magnitude(1, to.emin());
  p.greatest_magnitude = detail::fp32_magnitude((p.greatest & to.fraction_mask()) | (uint64_t{1} << to.fraction_bits),
                                                static_cast<int>(p.greatest >> to.fraction_bits) - to.bias - to.fraction_bits);
  // The number of `precision` bits below 2^emin, and the middle between the two.
  const uint32_t below = detail::fp32_magnitude((uint64_t{1} << precision) - 1, to.emin() - precision);
  const uint32_t middle = detail::fp32_magnitude((uint64_t{2} << precision) - 1, to.emin() - precision - 1);
  p.tiny_depends_from = rule.rounding == Rounding::stochastic && rule.tininess == Tininess::after ? below + 1 : p.least_normal;
  for (int s = 0; s < 2; ++s) {
    p.least_not_tiny[s] = p.least_normal;
    if (rule.tininess == Tininess::before) continue;
    if (rule.rounding == Rounding::nearest_even || rule.rounding == Rounding::nearest_away) p.least_not_tiny[s] = middle;
    if (p.round_away[s]) p.least_not_tiny[s] = below + 1;
  }
  if (to.subnormals == SubnormalRule::literal) {
    const uint64_t top = to.fraction_mask();
    p.hole_top = static_cast<uint32_t>(top);
    p.hole_from = detail::fp32_magnitude(top, to.least_bit() - 1);
    const uint32_t hole_middle = detail::fp32_magnitude(top + (uint64_t{2} << to.fraction_bits), to.least_bit() - 2);
    for (int s = 0; s < 2; ++s) {
      p.hole_up_from[s] = hole_middle + (to.has(policy::hole_tie_down) ? 1 : 0);
      if (rule.rounding == Rounding::toward_zero) p.hole_up_from[s] = p.least_normal;
      if (rule.rounding == Rounding::up || rule.rounding == Rounding::down) p.hole_up_from[s] = p.round_away[s] ? p.hole_from + 1 : p.least_normal;
    }
  }
  return p;
}

struct BulkResult {
  uint32_t encoding;
  uint8_t flags;
};

/// An element by the slow path: any source.
MMAFUZZ_HD inline BulkResult convert_slowly(const BulkPlan& p, uint32_t source, uint32_t random) {
  RoundingRule rule = p.rule;
  rule.random = random;
  const Rounded r = convert_number(p.to, decode(ieee_fields(8, 23), source), rule);
  return {static_cast<uint32_t>(r.encoding), static_cast<uint8_t>(p.flagged ? r.flags : 0)};
}

/// Whether a magnitude needs the slow path: numbers below fp32's least normal one for a format without subnormals; stochastic
/// draws over the hole, whose width is no power of two; stochastic tininess.
MMAFUZZ_HD inline bool is_slow(const BulkPlan& p, uint32_t magnitude) {
  if (p.to.subnormals == SubnormalRule::absent) return magnitude < 0x00800000u;
  if (p.rule.rounding != Rounding::stochastic || magnitude >= p.least_normal) return false;
  return (p.hole_from != 0 && magnitude > p.hole_from) || magnitude >= p.tiny_depends_from;
}

/// Converts one fp32 encoding. `random`: below 2^random_bits, for stochastic rounding.
MMAFUZZ_HD inline BulkResult convert_bulk(const BulkPlan& p, uint32_t source, uint32_t random = 0) {
  const uint32_t magnitude = source & 0x7fffffffu;
  const int s = static_cast<int>(source >> 31);
  if (is_slow(p, magnitude)) return convert_slowly(p, source, random);
  const uint32_t field = magnitude >> 23, implicit = field != 0;
  const uint32_t significand = (magnitude & 0x7fffffu) | (implicit << 23);
  const int32_t exponent = static_cast<int32_t>(field + 1 - implicit) + p.rebias;  // negative: below the least normal number
  const int32_t base = exponent < 0 ? 0 : exponent;
  const bool literal = p.hole_from != 0 && exponent < 0;
  const int32_t drop = smaller<int32_t>(p.shift + base - exponent - (literal ? 1 : 0), 31);
  const uint32_t kept = significand >> drop, discarded = significand & ((1u << drop) - 1), half = 1u << (drop - 1);
  bool away = p.round_away[s] && discarded != 0;
  if (p.rule.rounding == Rounding::nearest_even) away = discarded + (kept & 1) > half;
  if (p.rule.rounding == Rounding::nearest_away) away = discarded >= half;
  if (p.rule.rounding == Rounding::stochastic) {
    const int32_t full = p.shift + base - exponent - (literal ? 1 : 0);
    const uint32_t scaled = full <= 31 ? discarded << (32 - full) : full <= 63 ? significand >> (full - 32) : 0;  // in units of 2^-32
    const bool rest = full > 32 && significand != 0 && (full > 63 || (significand & ((1u << (full - 32)) - 1)) != 0);
    const int unused = 32 - p.rule.random_bits;
    uint32_t threshold = scaled >> unused;
    if (p.rule.threshold == Threshold::ceiling) threshold += (scaled & ((1u << unused) - 1)) != 0 || rest;
    if (p.rule.threshold == Threshold::nearest) threshold += (scaled >> (unused - 1)) & 1;
    away = random < threshold;
  }
  bool inexact = discarded != 0, tiny = magnitude < p.least_not_tiny[s];
  uint32_t code = (static_cast<uint32_t>(base) << p.to.fraction_bits) + kept + (away ? 1 : 0);
  if (p.hole_from != 0 && magnitude > p.hole_from && magnitude < p.least_normal) {
    code = p.hole_top + (magnitude >= p.hole_up_from[s] ? 1 : 0);
    inexact = true;
  }
  uint8_t flags = 0;
  if (p.to.subnormals == SubnormalRule::absent) {
    tiny = false;
  } else if (p.to.subnormals == SubnormalRule::flushed &&
             ((code != 0 && code < (1u << p.to.fraction_bits)) || (p.to.has(policy::flush_before) && magnitude < p.least_normal && magnitude != 0))) {
    code = 0;
    flags |= flag::underflow | flag::inexact;
  }
  if (inexact) flags |= flag::inexact;
  if (tiny && magnitude != 0 && (inexact || p.to.has(policy::underflow_exact))) flags |= flag::underflow;
  uint32_t result = code == 0 ? p.zero[s] : code | (s ? p.sign : 0);
  if (code > p.greatest) {
    result = p.overflow[s];
    flags |= flag::overflow | flag::inexact;
  }
  if (p.to.has(policy::overflow_before) && magnitude > p.greatest_magnitude) flags |= flag::overflow;
  if (p.signless && s && magnitude != 0) {
    result = p.negative;
    flags = p.negative_flags;
  }
  if (field == 0 && magnitude != 0 && !(flags & flag::invalid)) flags |= flag::denormal_operand;
  if (magnitude >= 0x7f800000u) {
    result = p.infinity[s];
    flags = p.infinity_flags[s];
    if (p.signless && s) {
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
