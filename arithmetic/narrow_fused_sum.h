// The truncated fused sum of the dense NVIDIA instructions in 32-bit registers, with shape and formats as constants: a
// sweep compares devices with it at their speed. The same function as fused_sum and emulated_fp8 on the rows that
// narrow_fits accepts (tests/sweep_test.cc), for sums that fit 32 bits, and at most one scale for each matrix row or
// column, a power of two. Codes here are encodings without sign and ignored low bits. `half`: c and d are fp16, not
// fp32.
#pragma once

#include "arithmetic/kernel_table.h"
#include "arithmetic/ieee_operations.h"

#if defined(__CUDACC__)
#define MMAFUZZ_UNROLL _Pragma("unroll")
#else
#define MMAFUZZ_UNROLL
#endif

namespace mmafuzz {

/// What is constant: products per dot and per block, and the formats.
struct NarrowShape {
  Kernel kernel{};  ///< fused_sum or emulated_fp8
  int k = 0, block = 0;
  FormatFields a, b;
  FormatFields scale{};  ///< of the scale of each matrix row and column, a power of two; width 0: no scales

  constexpr bool operator==(const NarrowShape&) const = default;

  /// Emulated FP8: operands become fp16.
  MMAFUZZ_HD constexpr bool widens_to_fp16() const { return traits_of(kernel).widens_to_fp16(); }
  /// The shape of each fused sum: of emulated FP8 half the products, in fp16.
  MMAFUZZ_HD constexpr NarrowShape summed() const {
    if (!widens_to_fp16()) return *this;
    return {{}, k / 2, k / 2, ieee_fields(5, 10), ieee_fields(5, 10)};
  }
};

namespace narrow {

/// The format of c and d: fp16, or fp32.
MMAFUZZ_HD constexpr FormatFields result_fields(bool half) { return half ? ieee_fields(5, 10) : ieee_fields(8, 23); }

/// A finite number's significand and exponent (of its implicit bit; subnormals keep the least one).
struct Parts {
  uint32_t significand;
  int exponent;
};

MMAFUZZ_HD inline uint32_t magnitude_code(const FormatFields& f, uint32_t x) {
  return (x >> f.ignored_low_bits) & static_cast<uint32_t>(f.magnitude_mask());
}
MMAFUZZ_HD inline bool is_negative(const FormatFields& f, uint32_t x) {
  return (x >> (f.ignored_low_bits + f.exponent_bits + f.fraction_bits)) & 1;
}
MMAFUZZ_HD inline Parts parts(const FormatFields& f, uint32_t code) {
  const uint32_t field = code >> f.fraction_bits, implicit = 1u << f.fraction_bits, fraction = code & (implicit - 1);
  return {field ? fraction | implicit : fraction, static_cast<int>(field ? field : 1) - f.bias};
}
/// Whether a code is an infinity or NaN.
MMAFUZZ_HD inline bool is_special(const FormatFields& f, uint32_t code) {
  if (f.specials == Specials::none) return false;
  return f.specials == Specials::fn ? code == f.magnitude_mask()
                                    : code >> f.fraction_bits == static_cast<uint32_t>(f.top_exponent_field());
}
MMAFUZZ_HD inline bool is_nan(const FormatFields& f, uint32_t code) {
  return is_special(f, code) && (f.specials == Specials::fn || (code & static_cast<uint32_t>(f.fraction_mask())) != 0);
}

/// The encoding of magnitude * 2^unit rounded to `bits` fraction bits, to nearest even or toward zero; magnitude <
/// 2^63.
MMAFUZZ_HD inline uint32_t round_magnitude(bool half, bool nearest, int bits, bool minus, uint64_t magnitude,
                                           int unit) {
  const FormatFields d = result_fields(half);
  const uint32_t sign = minus ? static_cast<uint32_t>(d.sign_bit()) : 0;
  if (magnitude == 0) return sign;
  const int top = bit_length(magnitude) - 1;
  const int drop = larger(top, d.emin() - unit) - bits;
  uint32_t kept;
  if (drop <= 0) {
    kept = static_cast<uint32_t>(magnitude << -drop);
  } else if (drop > 62) {
    kept = 0;
  } else {
    kept = static_cast<uint32_t>(magnitude >> drop);
    const uint64_t rest = magnitude & low_mask(drop), middle = uint64_t{1} << (drop - 1);
    if (nearest && (rest > middle || (rest == middle && (kept & 1)))) ++kept;
  }
  const uint32_t implicit = 1u << bits;
  const int field = unit + drop + bits + d.bias;
  uint32_t code = kept < implicit ? kept : (static_cast<uint32_t>(field) << bits) + (kept - implicit);
  code <<= d.fraction_bits - bits;
  const uint32_t infinity = static_cast<uint32_t>(d.encode_infinity(false));
  if (kept >= implicit && (field >= d.top_exponent_field() || code >= infinity)) code = infinity;
  return sign | code;
}

/// sum * 2^unit as the row's result: toward zero to fp32, to nearest even to fp16. An exact zero is +0.
MMAFUZZ_HD inline uint32_t round_sum(const DotModel& m, bool half, int64_t sum, int unit) {
  const uint32_t rounded =
      round_magnitude(half, /*nearest=*/half, m.output_fraction_bits, sum < 0, magnitude_of(sum), unit);
  const bool is_zero = magnitude_code(result_fields(half), rounded) == 0;
  return is_zero && m.underflow_sign == UnderflowSign::positive ? 0 : rounded;
}

/// The sum of c and of a block of S.block products from `first` on, which are multiplied by 2^scale.
template <NarrowShape S>
MMAFUZZ_HD uint32_t sum_block(const DotModel& m, bool half, const uint32_t* a, const uint32_t* b, int first, uint32_t c,
                              int scale = 0) {
  constexpr int product_bits = S.a.fraction_bits + S.b.fraction_bits;
  const FormatFields d = result_fields(half);
  const uint32_t c_code = magnitude_code(d, c);
  const Parts addend = parts(d, c_code);
  bool any_special = is_special(d, c_code);
  uint32_t significand[S.block];
  int exponent[S.block], greatest = addend.significand ? addend.exponent : m.zero_exponent;
  MMAFUZZ_UNROLL
  for (int i = 0; i < S.block; ++i) {
    const uint32_t x = magnitude_code(S.a, a[first + i]), y = magnitude_code(S.b, b[first + i]);
    const Parts p = parts(S.a, x), q = parts(S.b, y);
    any_special |= is_special(S.a, x) || is_special(S.b, y);
    significand[i] = p.significand * q.significand;
    exponent[i] = significand[i] ? p.exponent + q.exponent + scale : m.zero_exponent;
    greatest = larger(greatest, exponent[i]);
  }
  if (any_special) {
    bool any_nan = is_nan(d, c_code), plus = false, minus = false;
    if (is_special(d, c_code)) (is_negative(d, c) ? minus : plus) = true;
    MMAFUZZ_UNROLL
    for (int i = 0; i < S.block; ++i) {
      const uint32_t x = magnitude_code(S.a, a[first + i]), y = magnitude_code(S.b, b[first + i]);
      const bool x_special = is_special(S.a, x), y_special = is_special(S.b, y);
      any_nan |= is_nan(S.a, x) || is_nan(S.b, y) || (x_special && y == 0) || (y_special && x == 0);
      const bool negative = is_negative(S.a, a[first + i]) != is_negative(S.b, b[first + i]);
      if (x_special || y_special) (negative ? minus : plus) = true;
    }
    if (any_nan || (plus && minus)) return static_cast<uint32_t>(m.nan);
    return static_cast<uint32_t>(d.encode_infinity(minus));
  }
  uint32_t positive_sum = 0, negative_sum = 0;
  MMAFUZZ_UNROLL
  for (int i = 0; i < S.block; ++i) {
    const uint32_t kept = (significand[i] << (m.fraction_bits - product_bits)) >> smaller(greatest - exponent[i], 31);
    const bool negative = is_negative(S.a, a[first + i]) != is_negative(S.b, b[first + i]);
    (negative ? negative_sum : positive_sum) += kept;
  }
  const int up = larger(m.fraction_bits - d.fraction_bits, 0), down = larger(d.fraction_bits - m.fraction_bits, 0);
  const uint32_t kept = (addend.significand << up) >> smaller(greatest - addend.exponent + down, 31);
  if (addend.significand) (is_negative(d, c) ? negative_sum : positive_sum) += kept;
  return round_sum(m, half, int64_t{positive_sum} - negative_sum, greatest - m.fraction_bits);
}

/// An FP8 encoding as fp16, which holds every FP8 number, infinity and NaN.
MMAFUZZ_HD inline uint32_t fp8_to_fp16(const FormatFields& f, uint32_t x) {
  if (f.specials != Specials::fn) return x << 8;  // e5m2
  const uint32_t sign = (x & 0x80) << 8, code = x & 0x7f;
  if (code == 0x7f) return sign | 0x7e00;
  if (code >= 8) return sign | ((code << 7) + (8u << 10));
  if (code == 0) return sign;
  const int top = bit_length(code) - 1;  // code * 2^-9
  return sign | static_cast<uint32_t>(top - 9 + 15) << 10 | ((code << (10 - top)) & 0x3ff);
}

}  // namespace narrow

/// Whether narrow_fused_sum computes the row on dots of length k: one instruction of the row, or several instructions
/// of a fused sum without scales.
MMAFUZZ_HD inline bool narrow_fits(const NarrowShape& s, const DotModel& m, int k) {
  const bool half = m.d.width == 16, fused = !s.widens_to_fp16();
  const int a_bits = s.summed().a.fraction_bits, b_bits = s.summed().b.fraction_bits;
  if (m.kernel != s.kernel || m.block != s.block || k != s.k || m.k == 0 || m.fraction_bits < a_bits + b_bits ||
      m.fraction_bits >= 30)
    return false;
  const bool whole = m.k == k || (fused && s.scale.width == 0 && k % m.k == 0 && m.k % m.block == 0);
  const bool scales =
      s.scale.width ? m.scale_block == k && m.scale_a == s.scale && m.scale_b == s.scale && s.scale.fraction_bits == 0
                    : m.scale_block == 0;
  const uint64_t greatest_product = low_mask(a_bits + 1) * low_mask(b_bits + 1) << (m.fraction_bits - a_bits - b_bits);
  const uint64_t greatest_sum =
      static_cast<uint64_t>(m.block) * greatest_product + (uint64_t{2} << m.fraction_bits);  // c is below 2
  return whole && scales && m.a == s.a && m.b == s.b && m.c == m.d && m.d == narrow::result_fields(half) &&
         m.output_rounding == (half ? Rounding::nearest_even : Rounding::toward_zero) &&
         m.order == ProductOrder::ascending && m.zero_rule == ZeroRule::constant &&
         m.product == ProductRule::unnormalized && m.c_exponent == CExponent::d_format && m.integer_bits == 0 &&
         m.overflow == Overflow::infinity && m.output_via == OutputVia::direct && m.zero_sign == ZeroSign::positive &&
         m.special_scope == SpecialScope::block && m.low_bits == LowBits::ignored && m.subnormals == Subnormals::kept &&
         greatest_sum >> 32 == 0;
}

/// The encoding of one dot's result. a and b: S.k encodings each; scale: the exponent of the product of the two scales.
template <NarrowShape S>
MMAFUZZ_HD uint32_t narrow_fused_sum(const DotModel& m, const uint32_t* a, const uint32_t* b, uint32_t c,
                                     int scale = 0) {
  const bool half = m.d.width == 16;
  if constexpr (S.widens_to_fp16()) {
    uint32_t sum = 0;
    MMAFUZZ_UNROLL
    for (int part = 0; part < 2; ++part) {
      uint32_t x[S.k / 2], y[S.k / 2];
      MMAFUZZ_UNROLL
      for (int i = 0; i < S.k / 2; ++i) {
        x[i] = narrow::fp8_to_fp16(S.a, a[product_of_half(part, i)]);
        y[i] = narrow::fp8_to_fp16(S.b, b[product_of_half(part, i)]);
      }
      sum = narrow::sum_block<S.summed()>(m, half, x, y, 0, sum);
    }
    const FormatFields d = narrow::result_fields(half);
    const uint64_t joined = ieee_add(d, decode(d, c), decode(d, sum), {}).encoding;
    return static_cast<uint32_t>(narrow::is_nan(d, narrow::magnitude_code(d, static_cast<uint32_t>(joined))) ? m.nan
                                                                                                             : joined);
  } else {
    uint32_t accumulator = c;
    MMAFUZZ_UNROLL
    for (int first = 0; first < S.k; first += S.block)
      accumulator = narrow::sum_block<S>(m, half, a, b, first, accumulator, scale);
    return accumulator;
  }
}

}  // namespace mmafuzz
