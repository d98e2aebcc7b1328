// From an encoding to an exact value: class, sign, integer significand and exponent.
#pragma once

#include "arithmetic/format_fields.h"

namespace mmafuzz {

/// `finite` means finite and not zero.
enum class NumberClass : uint8_t { zero, finite, infinity, nan };

/// Neither infinity nor NaN.
MMAFUZZ_HD constexpr bool is_number(NumberClass cls) { return cls == NumberClass::zero || cls == NumberClass::finite; }

/// A decoded number: (-1)^negative * significand * 2^exponent when finite.
struct Number {
  NumberClass cls = NumberClass::zero;
  bool negative = false;
  bool subnormal = false;  ///< also of a subnormal encoding that the format reads as zero
  bool signaling = false;  ///< a signaling NaN; under policy::any_nan_invalid any NaN
  uint64_t significand = 0;
  int exponent = 0;        ///< weight of the significand's last bit
  int scale_exponent = 0;  ///< exponent of the leading (implicit) bit; a subnormal keeps the format's emin
};

MMAFUZZ_HD inline Number one_as_number() {
  Number n;
  n.cls = NumberClass::finite;
  n.significand = 1;
  return n;
}

namespace detail {

/// decode() for integers, shared biases, zeros, subnormals and encodings with the top exponent field.
MMAFUZZ_HD_CALL inline Number decode_uncommon(const FormatFields& f, uint64_t encoding) {
  Number n;
  encoding &= f.container_mask();
  if (f.integer) {
    const bool negative = f.has_sign() && (encoding >> (f.width - 1)) != 0;
    n.negative = negative;
    n.significand = negative ? (~encoding + 1) & f.container_mask() : encoding;
    n.cls = n.significand ? NumberClass::finite : NumberClass::zero;
    n.scale_exponent = n.significand ? bit_length(n.significand) - 1 : 0;
    return n;
  }
  if (f.shared_bias) {
    n.cls = NumberClass::finite;
    n.significand = 1;
    n.exponent = n.scale_exponent = -static_cast<int>(encoding);
    return n;
  }
  const uint64_t code = encoding >> f.ignored_low_bits;
  const uint64_t fraction = code & f.fraction_mask();
  const int field = static_cast<int>((code >> f.fraction_bits) & uint64_t(f.top_exponent_field()));
  n.negative = f.has_sign() && (code & f.sign_bit());
  switch (f.specials) {
    case Specials::ieee:
      if (field == f.top_exponent_field()) {
        n.cls = fraction ? NumberClass::nan : NumberClass::infinity;
        n.signaling = fraction && (f.has(policy::any_nan_invalid) || !(fraction >> (f.fraction_bits - 1)));
        return n;
      }
      break;
    case Specials::fn:
    case Specials::top_code:
      if (field == f.top_exponent_field() && fraction == f.fraction_mask()) {
        n.cls = NumberClass::nan;
        return n;
      }
      break;
    case Specials::fnuz:
    case Specials::top_infinity:
      if (f.has_infinity() && field == f.top_exponent_field() && fraction == f.fraction_mask()) {
        n.cls = NumberClass::infinity;
        return n;
      }
      if (n.negative && field == 0 && fraction == 0) {
        n.cls = NumberClass::nan;
        n.negative = false;
        return n;
      }
      break;
    case Specials::none: break;
  }
  if (field == 0 && f.subnormals != SubnormalRule::absent) {
    n.scale_exponent = f.subnormal_exponent();
    if (fraction == 0 || f.subnormals == SubnormalRule::flushed) {
      n.subnormal = fraction != 0;
      if (f.has(policy::zero_positive)) n.negative = false;
      return n;
    }
    n.cls = NumberClass::finite;
    n.subnormal = true;
    n.significand = fraction;
    n.exponent = n.scale_exponent - f.fraction_bits;
    return n;
  }
  n.cls = NumberClass::finite;
  n.significand = fraction | (uint64_t{1} << f.fraction_bits);
  n.scale_exponent = field - f.bias;
  n.exponent = n.scale_exponent - f.fraction_bits;
  return n;
}

}  // namespace detail

/// Decodes one encoding; total (every bit pattern of the container has a meaning). Ignored low bits are dropped.
MMAFUZZ_HD inline Number decode(const FormatFields& f, uint64_t encoding) {
  const uint64_t code = encoding >> f.ignored_low_bits;
  const unsigned top = static_cast<unsigned>(f.top_exponent_field());
  const unsigned field = static_cast<unsigned>(code >> f.fraction_bits) & top;
  if (field - 1 >= top - 1) return detail::decode_uncommon(f, encoding);  // the field is 0, which wraps, or the top one
  Number n;
  n.cls = NumberClass::finite;
  n.negative = (code & f.sign_bit()) != 0;
  n.significand = (code & f.fraction_mask()) | (uint64_t{1} << f.fraction_bits);
  n.scale_exponent = static_cast<int>(field) - f.bias;
  n.exponent = n.scale_exponent - f.fraction_bits;
  return n;
}

/// The value of an encoding of a signed integer format.
MMAFUZZ_HD inline int64_t sign_extended(const FormatFields& f, uint64_t encoding) {
  return static_cast<int64_t>(encoding << (64 - f.width)) >> (64 - f.width);
}

/// Whether an encoding is an infinity or a NaN, without decoding it.
MMAFUZZ_HD inline bool is_special(const FormatFields& f, uint64_t encoding) {
  const uint64_t code = encoding >> f.ignored_low_bits;
  switch (f.specials) {
    case Specials::ieee: {
      const uint64_t top = static_cast<uint64_t>(f.top_exponent_field()) << f.fraction_bits;
      return (code & top) == top;
    }
    case Specials::none: return false;
    case Specials::fnuz: return code == f.sign_bit();
    case Specials::top_infinity:
      if (code == f.sign_bit()) return true;
      break;
    case Specials::fn:
    case Specials::top_code: break;
  }
  return (code & f.magnitude_mask()) == f.magnitude_mask();
}

/// Whether an encoding is a zero of either sign.
MMAFUZZ_HD inline bool is_zero(const FormatFields& f, uint64_t encoding) {
  if (f.integer) return encoding == 0;  // the least integer is its sign bit alone
  const uint64_t code = encoding >> f.ignored_low_bits;
  if (f.subnormals == SubnormalRule::absent || (f.minus_zero_is_nan() && code == f.sign_bit())) return false;
  return (code & f.magnitude_mask()) == 0;
}

}  // namespace mmafuzz
