// What a binary floating-point format is to the arithmetic: field widths, bias and policies. Every mask derives from
// these; names and switches live in core/format.h. A *code* is an encoding shifted right by the ignored low bits.
#pragma once

#include "arithmetic/host_device.h"

namespace mmafuzz {

enum class SignField : uint8_t {
  present,
  absent,   ///< no sign bit (e8m0, uhp): negative values are not representable
  ignored,  ///< the bit exists in the container and is ignored (ue4m3, PTX ISA "ue4m3")
};

enum class Specials : uint8_t {
  ieee,          ///< top exponent: infinity and NaN (IEEE 754-2019, 3.4)
  fn,            ///< only all ones is NaN, no infinity (OCP OFP8 E4M3)
  fnuz,          ///< only the encoding of -0 is NaN, no infinity, no -0
  top_infinity,  ///< the encoding of -0 is NaN, the highest code infinity, no -0 (IEEE P3109, extended)
  none,          ///< every encoding is finite (OCP MX FP6 and FP4, CFloat8, SHP)
  top_code,      ///< the highest code is NaN; no infinity, no zero (OCP MX E8M0)
};

enum class SubnormalRule : uint8_t {
  gradual,  ///< 2^(1-bias) * 0.fraction (IEEE 754)
  literal,  ///< 2^(-bias) * 0.fraction, as Tesla's CFloat text is worded (docs/semantics.md 9)
  flushed,  ///< encodings exist and read as zero (Tesla UHP)
  absent,   ///< exponent field 0 is an ordinary exponent (e8m0)
};

/// Readings of what Tesla's text leaves open, as bits of FormatFields::policy (docs/cfloat.md numbers them;
/// core/format.cc names them). A bit that is clear is the reading of IEEE 754, or where that has none, the first one
/// listed there.
namespace policy {
inline constexpr uint32_t hole_tie_down = 1u << 0;        ///< 2: the middle of the hole goes to the greatest subnormal
inline constexpr uint32_t clamp_positive = 1u << 1;       ///< 3: a negative overflow is clamped to +greatest
inline constexpr uint32_t nan_signed = 1u << 2;           ///< 4: NaN clamps to the greatest number of its sign
inline constexpr uint32_t zero_positive = 1u << 3;        ///< 5: zeros have no sign
inline constexpr uint32_t negative_zero = 1u << 4;        ///< 6: a negative value without a sign bit becomes zero
inline constexpr uint32_t negative_absolute = 1u << 5;    ///< 6: ... its absolute value
inline constexpr uint32_t hole_nearest = 1u << 6;         ///< 9: stochastic rounding takes the nearer end of the hole
inline constexpr uint32_t overflow_before = 1u << 7;      ///< 10: overflow is judged before rounding
inline constexpr uint32_t underflow_exact = 1u << 8;      ///< 11: exact subnormal results raise underflow too
inline constexpr uint32_t no_inexact = 1u << 9;           ///< 11: there is no inexact flag
inline constexpr uint32_t flush_before = 1u << 10;        ///< 12: results are flushed by their value before rounding
inline constexpr uint32_t conversions_silent = 1u << 11;  ///< 13: conversions raise no flags
inline constexpr uint32_t infinity_invalid = 1u << 12;    ///< 16: a clamped infinite operand is invalid, no overflow
inline constexpr uint32_t any_nan_invalid = 1u << 13;     ///< 17: quiet NaN operands are invalid too
inline constexpr uint32_t tiny_negative_flushed = 1u << 14;  ///< 19: what rounds to a negative denormal is flushed
}  // namespace policy

/// A format as plain data, so that device code can hold it.
struct FormatFields {
  uint8_t width = 0;  ///< bits of the container that travels
  uint8_t exponent_bits = 0;
  uint8_t fraction_bits = 0;
  uint8_t ignored_low_bits = 0;  ///< container bits below the fraction (tf32: 13)
  int16_t bias = 0;
  SignField sign = SignField::present;
  Specials specials = Specials::ieee;
  SubnormalRule subnormals = SubnormalRule::gradual;
  uint32_t policy = 0;       ///< bits of namespace policy
  bool integer = false;      ///< s8, u32, ...: two's complement or unsigned integers of `width` bits
  bool shared_bias = false;  ///< b stands for 2^-b: the exponent bias that a block of CFloat numbers shares

  friend bool operator==(const FormatFields&, const FormatFields&) = default;

  /// Significand bits including the implicit one.
  MMAFUZZ_HD constexpr int precision() const { return fraction_bits + 1; }
  /// Exponent of the least normal number.
  MMAFUZZ_HD constexpr int emin() const { return subnormals == SubnormalRule::absent ? -bias : 1 - bias; }
  /// The exponent that subnormal numbers are written with: 2^(-bias) * 0.fraction of Tesla's text has -bias.
  MMAFUZZ_HD constexpr int subnormal_exponent() const {
    return emin() - (subnormals == SubnormalRule::literal ? 1 : 0);
  }
  MMAFUZZ_HD constexpr int top_exponent_field() const { return (1 << exponent_bits) - 1; }
  /// Exponent of the greatest finite number.
  MMAFUZZ_HD constexpr int emax() const {
    const bool top_is_special = specials == Specials::ieee || specials == Specials::top_code;
    return top_exponent_field() - bias - (top_is_special ? 1 : 0);
  }
  MMAFUZZ_HD constexpr bool has_sign() const { return sign == SignField::present; }
  MMAFUZZ_HD constexpr bool has_infinity() const {
    return specials == Specials::ieee || specials == Specials::top_infinity;
  }
  /// Whether the encoding of -0 is the one NaN.
  MMAFUZZ_HD constexpr bool minus_zero_is_nan() const {
    return specials == Specials::fnuz || specials == Specials::top_infinity;
  }
  /// Whether all ones below the sign are NaN or infinity, and the next lower code is the greatest number.
  MMAFUZZ_HD constexpr bool all_ones_is_special() const {
    return specials == Specials::fn || specials == Specials::top_infinity;
  }
  MMAFUZZ_HD constexpr bool has_nan() const { return specials != Specials::none; }
  MMAFUZZ_HD constexpr bool has_negative_zero() const {
    return has_sign() && !minus_zero_is_nan() && !has(policy::zero_positive);
  }
  MMAFUZZ_HD constexpr bool has(uint32_t reading) const { return (policy & reading) != 0; }
  MMAFUZZ_HD constexpr uint64_t fraction_mask() const { return low_mask(fraction_bits); }
  /// The exponent and fraction fields of a code: all ones below the sign.
  MMAFUZZ_HD constexpr uint64_t magnitude_mask() const { return low_mask(exponent_bits + fraction_bits); }
  MMAFUZZ_HD constexpr uint64_t container_mask() const { return low_mask(width); }
  /// Weight exponent of the last bit of the least normal number (and of gradual subnormals).
  MMAFUZZ_HD constexpr int least_bit() const { return emin() - fraction_bits; }
  /// Weight exponent of the last bit of a subnormal number.
  MMAFUZZ_HD constexpr int subnormal_bit() const { return subnormal_exponent() - fraction_bits; }

  /// The code of the greatest finite magnitude.
  MMAFUZZ_HD constexpr uint64_t greatest_magnitude() const {
    uint64_t code = (uint64_t(emax() + bias) << fraction_bits) | fraction_mask();
    if (all_ones_is_special()) code -= 1;
    return code;
  }
  MMAFUZZ_HD constexpr uint64_t sign_bit() const {
    return has_sign() ? uint64_t{1} << (exponent_bits + fraction_bits) : 0;
  }
  MMAFUZZ_HD constexpr uint64_t in_container(uint64_t code) const { return code << ignored_low_bits; }

  MMAFUZZ_HD constexpr uint64_t encode_zero(bool negative) const {
    return in_container(negative && has_negative_zero() ? sign_bit() : 0);
  }
  MMAFUZZ_HD constexpr uint64_t encode_greatest(bool negative) const {
    return in_container(greatest_magnitude() | (negative ? sign_bit() : 0));
  }
  /// Infinity of a format that has one.
  MMAFUZZ_HD constexpr uint64_t encode_infinity(bool negative) const {
    const uint64_t fraction = specials == Specials::top_infinity ? fraction_mask() : 0;
    return in_container((uint64_t(top_exponent_field()) << fraction_bits) | fraction | (negative ? sign_bit() : 0));
  }
  /// The canonical quiet NaN: sign 0, of the fraction only the top bit set. A format with one NaN has that one; a
  /// format without NaN has the greatest number instead.
  MMAFUZZ_HD constexpr uint64_t encode_nan() const {
    switch (specials) {
      case Specials::ieee:
        return encode_infinity(false) | in_container(fraction_bits ? uint64_t{1} << (fraction_bits - 1) : 0);
      case Specials::fn:
      case Specials::top_code: return in_container(magnitude_mask());
      case Specials::fnuz:
      case Specials::top_infinity: return in_container(sign_bit());
      case Specials::none: break;
    }
    return encode_greatest(false);
  }
};

/// An IEEE 754 interchange format of 1 + exponent_bits + fraction_bits bits.
MMAFUZZ_HD constexpr FormatFields ieee_fields(int exponent_bits, int fraction_bits) {
  FormatFields f;
  f.width = static_cast<uint8_t>(1 + exponent_bits + fraction_bits);
  f.exponent_bits = static_cast<uint8_t>(exponent_bits);
  f.fraction_bits = static_cast<uint8_t>(fraction_bits);
  f.bias = static_cast<int16_t>((1 << (exponent_bits - 1)) - 1);
  return f;
}

// For host code; device code cannot refer to constants at namespace scope and calls ieee_fields.
inline constexpr FormatFields fp16_fields = ieee_fields(5, 10);
inline constexpr FormatFields bf16_fields = ieee_fields(8, 7);
inline constexpr FormatFields fp32_fields = ieee_fields(8, 23);
inline constexpr FormatFields fp64_fields = ieee_fields(11, 52);

}  // namespace mmafuzz
