// The truncated fused sum of narrow_fused_sum.h on operands that were decoded before: rows and columns that many dots
// share are decoded once. For operands without infinities and NaNs; the same function as narrow_fused_sum there
// (tests/panel_test.cc).
#pragma once

#include "arithmetic/narrow_fused_sum.h"

namespace mmafuzz {

/// One element of a row or column of a matrix.
struct DecodedElement {
  uint32_t significand;
  int16_t exponent;  ///< of the implicit bit, scale included; exponent_of_zero for a zero
  bool minus;
};

/// One row or column. The arrays are the caller's; their S.k elements are in the order of narrow::position.
struct DecodedVector {
  const uint32_t* significand;
  const int16_t* exponent;
  uint32_t minus, zero_blocks;  ///< a bit for each negative element; for each block that holds a zero
};

namespace narrow {

/// Far below every other sum of exponents, so that a zero decides no greatest one.
inline constexpr int16_t exponent_of_zero = -16384;

template <NarrowShape S>
MMAFUZZ_HD constexpr int product_bits() {
  return S.summed().a.fraction_bits + S.summed().b.fraction_bits;
}
/// The index of element i in the arrays, where the elements of a block are adjacent: emulated FP8 has i mod 4 in {0,1}
/// first, then {2,3}.
template <NarrowShape S>
MMAFUZZ_HD constexpr int position(int i) {
  return S.widens_to_fp16() ? i % 4 / 2 * (S.k / 2) + i / 4 * 2 + i % 2 : i;
}

/// `scale`: exponent of the element's scale. Infinities and NaNs become zeros.
template <NarrowShape S>
MMAFUZZ_HD DecodedElement decode_element(bool is_a, uint32_t encoding, int scale) {
  const FormatFields f = is_a ? S.a : S.b;
  const uint32_t code = magnitude_code(f, encoding);
  DecodedElement e{0, exponent_of_zero, is_negative(f, encoding)};
  if (code == 0 || is_special(f, code)) return e;
  Parts p = parts(f, code);
  if (S.widens_to_fp16()) {
    const FormatFields half = ieee_fields(5, 10);
    p = parts(half, magnitude_code(half, fp8_to_fp16(f, encoding)));
  }
  e.significand = p.significand;
  e.exponent = static_cast<int16_t>(p.exponent + scale);
  return e;
}

/// x >> s for s >= 0, 0 beyond the width.
MMAFUZZ_HD inline uint32_t shifted_out(uint32_t x, int s) {
#if defined(__CUDA_ARCH__)
  return __funnelshift_rc(x, 0, static_cast<unsigned>(s));
#else
  return s > 31 ? 0 : x >> s;
#endif
}

/// x + y to nearest even; x is finite, y finite or infinite.
MMAFUZZ_HD inline uint32_t add(bool half, uint32_t x, uint32_t y) {
  const FormatFields d = result_fields(half);
  const uint32_t x_code = magnitude_code(d, x), y_code = magnitude_code(d, y);
  if (is_special(d, y_code)) return y;
  const Parts p = parts(d, x_code), q = parts(d, y_code);
  const int exponent = larger(p.exponent, q.exponent);
  constexpr int room = 34;  // more than a significand and its guard bits
  const auto aligned = [&](const Parts& part) {
    const int shift = smaller(exponent - part.exponent, 62);
    const uint64_t whole = uint64_t{part.significand} << room;
    return whole >> shift | ((whole & low_mask(shift)) != 0);
  };
  const int64_t u = static_cast<int64_t>(aligned(p)), v = static_cast<int64_t>(aligned(q));
  const int64_t sum = (is_negative(d, x) ? -u : u) + (is_negative(d, y) ? -v : v);
  const bool minus = sum < 0 || (sum == 0 && is_negative(d, x) && is_negative(d, y));
  return round_magnitude(half, /*nearest=*/true, d.fraction_bits, minus, magnitude_of(sum),
                         exponent - d.fraction_bits - room);
}

/// One block of n products from `first` on, and c. `zero`: one of the products is zero. The significands of y were
/// shifted up by F - product_bits.
template <int n>
MMAFUZZ_HD uint32_t sum_decoded(const DotModel& m, bool half, const DecodedVector& x, const DecodedVector& y, int first,
                                bool zero, uint32_t c) {
  const FormatFields d = result_fields(half);
  const uint32_t c_code = magnitude_code(d, c);
  if (is_special(d, c_code)) return c;  // the block before overflowed
  const Parts addend = parts(d, c_code);
  int greatest = addend.significand ? addend.exponent : m.zero_exponent;
  if (zero) greatest = larger(greatest, m.zero_exponent);
  MMAFUZZ_UNROLL
  for (int i = 0; i < n; ++i) greatest = larger(x.exponent[first + i] + y.exponent[first + i], greatest);
  const uint32_t signs = (x.minus ^ y.minus) >> first;
  uint32_t plus = 0, minus = 0;
  MMAFUZZ_UNROLL
  for (int i = 0; i < n; ++i) {
    const uint32_t product = x.significand[first + i] * y.significand[first + i];
    const uint32_t kept = shifted_out(product, greatest - x.exponent[first + i] - y.exponent[first + i]);
    (signs >> i & 1 ? minus : plus) += kept;
  }
  const int up = larger(m.fraction_bits - d.fraction_bits, 0), down = larger(d.fraction_bits - m.fraction_bits, 0);
  const uint32_t kept = shifted_out(addend.significand << up, greatest - addend.exponent + down);
  (is_negative(d, c) ? minus : plus) += kept;
  return round_sum(m, half, int64_t{plus} - minus, greatest - m.fraction_bits);
}

}  // namespace narrow

/// The encoding of one dot's result.
template <NarrowShape S>
MMAFUZZ_HD uint32_t decoded_fused_sum(const DotModel& m, bool half, const DecodedVector& x, const DecodedVector& y,
                                      uint32_t c) {
  constexpr NarrowShape summed = S.summed();
  const uint32_t zeros = x.zero_blocks | y.zero_blocks;
  uint32_t accumulator = S.widens_to_fp16() ? 0 : c;
  MMAFUZZ_UNROLL
  for (int first = 0; first < S.k; first += summed.block)
    accumulator =
        narrow::sum_decoded<summed.block>(m, half, x, y, first, zeros >> (first / summed.block) & 1, accumulator);
  if constexpr (S.widens_to_fp16()) return narrow::add(half, c, accumulator);
  return accumulator;
}

}  // namespace mmafuzz
