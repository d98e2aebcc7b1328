// The chain of fused multiply-adds of kernels/fma_chain-inl.h in fp64, rounded to nearest even, on factors that were
// decoded before and are finite, and a c that is no NaN. The same function as fma_chain there (tests/panel_test.cc).
#pragma once

#include "arithmetic/kernel_table.h"

namespace mmafuzz {

/// (-1)^minus * significand * 2^exponent. Factors are finite; an accumulator may be infinite.
struct DecodedDouble {
  uint64_t significand;  ///< below 2^53
  int32_t exponent;      ///< of the significand's last bit; -1074 where the significand is below 2^52
  bool minus;
  bool infinite = false;
};

/// A NaN reads as an infinity. 1075 is the bias and the 52 fraction bits.
MMAFUZZ_HD inline DecodedDouble decode_double(uint64_t encoding) {
  const int field = static_cast<int>(encoding >> 52 & 0x7ff);
  const uint64_t fraction = encoding & low_mask(52);
  return {field ? fraction | uint64_t{1} << 52 : fraction, (field ? field : 1) - 1075, encoding >> 63 != 0,
          field == 0x7ff};
}
MMAFUZZ_HD inline uint64_t encode_double(const DecodedDouble& x) {
  const uint64_t sign = uint64_t{x.minus} << 63;
  if (x.infinite) return sign | uint64_t{0x7ff} << 52;
  if (x.significand >> 52 == 0) return sign | x.significand;
  return sign | (static_cast<uint64_t>(x.exponent + 1075) << 52 | (x.significand & low_mask(52)));
}

namespace chain {

/// v * 2^exponent in units of 2^unit; if any bits below are set, so is the last bit.
MMAFUZZ_HD inline uint128 in_units(uint128 v, int exponent, int unit) {
  const int shift = exponent - unit;
  if (shift >= 0) return v << shift;
  if (shift < -127) return v != 0;
  const uint128 kept = v >> -shift;
  return kept | (kept << -shift != v ? 1 : 0);
}

/// x * y + z, rounded to nearest even; x and y finite.
MMAFUZZ_HD inline DecodedDouble multiply_add(const DecodedDouble& x, const DecodedDouble& y, const DecodedDouble& z) {
  if (z.infinite) return z;
  const bool minus = x.minus != y.minus;
  const uint128 product = static_cast<uint128>(x.significand) * y.significand;
  if (product == 0) {
    DecodedDouble sum = z;
    if (z.significand == 0) sum.minus = minus && z.minus;
    return sum;
  }
  // The leading bit of the greater of product and z becomes bit 125, so that a sum has room. Where the other one loses
  // bits, it is so small that one sticky bit in their place gives the same rounding.
  const int product_exponent = x.exponent + y.exponent;
  int top = product_exponent + bit_length128(product);
  if (z.significand) top = larger(top, z.exponent + bit_length(z.significand));
  const int unit = top - 126;
  const uint128 p = in_units(product, product_exponent, unit), q = in_units(z.significand, z.exponent, unit);
  const bool same_sign = minus == z.minus, product_is_less = p < q;
  const uint128 sum = same_sign ? p + q : product_is_less ? q - p : p - q;
  DecodedDouble result{0, -1074, !same_sign && product_is_less ? z.minus : minus};
  if (sum == 0) {
    result.minus = false;
    return result;
  }
  const int quantum = larger(unit + bit_length128(sum) - 53, -1074), drop = quantum - unit;
  result.exponent = quantum;
  if (drop <= 0) {
    result.significand = static_cast<uint64_t>(sum << -drop);
    return result;
  }
  if (drop > 127) return result;
  result.significand = static_cast<uint64_t>(sum >> drop);
  const uint128 rest = sum & ((uint128{1} << drop) - 1), half = uint128{1} << (drop - 1);
  if (rest > half || (rest == half && (result.significand & 1))) ++result.significand;
  if (result.significand >> 53) {
    result.significand >>= 1;
    ++result.exponent;
  }
  if (result.significand >> 52 && result.exponent > 1023 - 52) result.infinite = true;
  return result;
}

}  // namespace chain

/// Whether chain::multiply_add over dots of length k computes the row.
MMAFUZZ_HD inline bool decoded_chain_fits(const DotModel& m, int k) {
  const FormatFields f = ieee_fields(11, 52);
  return traits_of(m).carried == KernelTraits::Carried::each_product && m.a == f && m.b == f && m.c == f && m.d == f &&
         m.k > 0 && k % m.k == 0 && m.order == ProductOrder::ascending && m.output_rounding == Rounding::nearest_even &&
         m.scale_block == 0 && m.subnormals == Subnormals::kept && m.form == Form::s_plus_c;
}

}  // namespace mmafuzz
