// The sum of kernels/grouped_sum-inl.h on e2m1 operands that were decoded before: 64 products in groups of 16, each
// summed by four dp4a. The same function as grouped_sum there on the rows that decoded_groups_fit accepts
// (tests/panel_test.cc).
#pragma once

#include "arithmetic/decoded_sum.h"

namespace mmafuzz {

inline constexpr int grouped_products = 64, group_size = 16;

/// sum + the four products of the signed bytes of x and y.
MMAFUZZ_HD inline int32_t dot_of_bytes(uint32_t x, uint32_t y, int32_t sum) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 610
  return __dp4a(static_cast<int32_t>(x), static_cast<int32_t>(y), sum);
#else
  uint32_t total = static_cast<uint32_t>(sum);
  for (int i = 0; i < 32; i += 8)
    total += static_cast<uint32_t>(int32_t{static_cast<int8_t>(x >> i)} * static_cast<int8_t>(y >> i));
  return static_cast<int32_t>(total);
#endif
}

/// An e2m1 number times 2, an integer from -12 to 12.
MMAFUZZ_HD inline int8_t twice_e2m1(uint32_t encoding) {
  const uint32_t code = encoding & 7, field = code >> 1;
  const int magnitude = static_cast<int>(field ? (2 | (code & 1)) << (field - 1) : code);
  return static_cast<int8_t>(encoding & 8 ? -magnitude : magnitude);
}

/// A scale: its significand and the exponent of its implicit bit, both 0 for zero and NaN.
struct DecodedScale {
  uint8_t significand;
  bool is_nan;
  int16_t exponent;
};
MMAFUZZ_HD inline DecodedScale decode_scale(const FormatFields& f, uint32_t encoding) {
  const uint32_t code = encoding & static_cast<uint32_t>(f.magnitude_mask());
  if (code == f.magnitude_mask()) return {0, true, 0};
  const uint32_t field = code >> f.fraction_bits, fraction = code & static_cast<uint32_t>(f.fraction_mask());
  const bool normal = field != 0 || f.subnormals == SubnormalRule::absent;
  if (!normal && fraction == 0) return {0, false, 0};
  return {static_cast<uint8_t>(normal ? fraction | 1u << f.fraction_bits : fraction), false,
          static_cast<int16_t>(normal ? static_cast<int>(field) - f.bias : f.emin())};
}

/// One row or column of a matrix. The arrays are the caller's.
struct DecodedGroups {
  const uint32_t* bytes;      ///< 64 elements as twice_e2m1, four in a word
  const DecodedScale* scale;  ///< one for each scale_block elements
  uint64_t nonzero;           ///< bit i: element i is not zero
};

/// Whether decoded_grouped_sum computes the row on dots of length k with these scales.
MMAFUZZ_HD inline bool decoded_groups_fit(const FormatFields& scale, int scale_block, const DotModel& m, int k) {
  return traits_of(m).sums_groups() && k == grouped_products && m.k == k && m.group == group_size &&
         m.scale_block == scale_block && m.scale_a == scale && m.scale_b == scale && m.a.width == 4 &&
         m.a.fraction_bits == 1 && m.b == m.a && m.c == m.d && m.d == narrow::result_fields(/*half=*/false) &&
         m.fraction_bits >= 23 && m.fraction_bits >= 2 + 2 * scale.fraction_bits && m.fraction_bits < 40 &&
         m.order == ProductOrder::ascending && m.zero_rule == ZeroRule::constant &&
         m.zero_group == ZeroGroup::all_products_zero && m.c_exponent == CExponent::d_format && m.integer_bits == 0 &&
         m.output_rounding == Rounding::toward_zero && m.overflow == Overflow::infinity &&
         m.output_via == OutputVia::direct && m.zero_sign == ZeroSign::positive &&
         m.special_scope == SpecialScope::block && m.subnormals == Subnormals::kept;
}

/// The encoding of one dot's result. scale_fraction: fraction bits of the scales' format; scale_block: products that
/// share a scale.
template <int scale_fraction, int scale_block>
MMAFUZZ_HD uint32_t decoded_grouped_sum(const DotModel& m, const DecodedGroups& x, const DecodedGroups& y, uint32_t c) {
  constexpr int groups = grouped_products / group_size, scales = grouped_products / scale_block;
  constexpr bool half = false;  // c and d are fp32
  const FormatFields d = narrow::result_fields(half);
  const uint32_t c_code = narrow::magnitude_code(d, c);
  bool any_nan = narrow::is_nan(d, c_code);
  MMAFUZZ_UNROLL
  for (int s = 0; s < scales; ++s) any_nan |= x.scale[s].is_nan || y.scale[s].is_nan;
  if (any_nan) return static_cast<uint32_t>(m.nan);
  if (narrow::is_special(d, c_code)) return c;  // infinity: the e2m1 operands have none
  const narrow::Parts addend = narrow::parts(d, c_code);
  int64_t group[groups];
  int exponent[groups], greatest = addend.significand ? addend.exponent : m.zero_exponent;
  MMAFUZZ_UNROLL
  for (int g = 0; g < groups; ++g) {
    int32_t sum = 0;  // four times the sum of the products: at most 16 * 144
    MMAFUZZ_UNROLL
    for (int i = g * group_size / 4; i < (g + 1) * group_size / 4; ++i) sum = dot_of_bytes(x.bytes[i], y.bytes[i], sum);
    const DecodedScale &p = x.scale[g * scales / groups], &q = y.scale[g * scales / groups];
    const int scale = p.significand * q.significand;
    const uint64_t nonzero_products = (x.nonzero & y.nonzero) >> (g * group_size) & low_mask(group_size);
    exponent[g] = scale == 0 || nonzero_products == 0 ? m.zero_exponent : p.exponent + q.exponent;
    group[g] = int64_t{sum * scale};
    greatest = larger(greatest, exponent[g]);
  }
  int64_t total = 0;
  MMAFUZZ_UNROLL
  for (int g = 0; g < groups; ++g) {
    const uint64_t whole = magnitude_of(group[g]) << (m.fraction_bits - 2 - 2 * scale_fraction);
    const int64_t kept = static_cast<int64_t>(whole >> smaller(greatest - exponent[g], 63));
    total += group[g] < 0 ? -kept : kept;
  }
  const uint64_t whole = uint64_t{addend.significand} << (m.fraction_bits - d.fraction_bits);
  const int64_t kept = static_cast<int64_t>(whole >> smaller(greatest - addend.exponent, 63));
  total += narrow::is_negative(d, c) ? -kept : kept;
  return narrow::round_sum(m, half, total, greatest - m.fraction_bits);
}

}  // namespace mmafuzz
