// What a device computes of the Ozaki scheme around the products of cuBLAS (docs/ozaki.md): digits of fp64 numbers, and
// sums of slice products. Slice p of a matrix (from 1, the most significant) holds digit p of each element. For host
// and device; operands are finite.
#pragma once

#include <cstring>

#include "arithmetic/slicing.h"

namespace mmafuzz {

/// How two matrices are cut, and which pairs of slices (p of a, q of b) are multiplied.
struct OzakiSlices {
  SliceWidths widths;
  int32_t count = 0;  ///< slices of a and of b
  int32_t fast = 1;   ///< 1: without the pairs of p + q > count + 1; 0: all pairs
  /// Slice p of a is multiplied with slices 1 to partners(p) of b.
  int partners(int p) const { return fast ? count + 1 - p : count; }
};

/// top_of() of a zero: below that of any other number, and all bytes equal, so that memset can set it.
inline constexpr int32_t top_of_zero = static_cast<int32_t>(0x80808080);
/// The exponent of the least power of two above |x|, x an encoding. The top of a vector is the maximum of its
/// elements'.
MMAFUZZ_HD inline int32_t top_of(uint64_t x) {
  const uint64_t fraction = x & low_mask(52);
  const int field = static_cast<int>(x >> 52 & 0x7ff);
  if (field) return field - 1022;
  return fraction ? bit_length(fraction) - 1074 : top_of_zero;
}

/// Digit p (from 1) of the encoding x: its bits from below 2^(top - (p-1) * width) down to 2^(top - p * width), as an
/// integer with the sign of x. `top` is that of the element's vector.
MMAFUZZ_HD inline int digit_of(uint64_t x, int top, int p, int width) {
  const int field = static_cast<int>(x >> 52 & 0x7ff);
  const uint64_t significand = (x & low_mask(52)) | (field ? uint64_t{1} << 52 : 0);
  const int exponent = (field ? field : 1) - 1075, shift = exponent - (top - p * width);
  uint64_t bits = 0;
  if (shift >= 0 && shift < width) bits = significand << shift;
  if (shift < 0 && shift > -64) bits = significand >> -shift;
  const int digit = static_cast<int>(bits & low_mask(width));
  return x >> 63 ? -digit : digit;
}

/// A digit as the slice's type holds it: |digit| <= 2047 in fp16, <= 127 in s8.
struct Fp16Digit {
  uint16_t bits;
  MMAFUZZ_HD static Fp16Digit of(int digit) {
    const auto magnitude = static_cast<uint32_t>(digit < 0 ? -digit : digit);
    const int length = bit_length(magnitude);
    const uint32_t number =
        magnitude ? static_cast<uint32_t>(length + 14) << 10 | ((magnitude << (11 - length)) & 0x3ff) : 0;
    return {static_cast<uint16_t>((digit < 0 ? 0x8000u : 0u) | number)};
  }
};
struct S8Digit {
  int8_t bits;
  MMAFUZZ_HD static S8Digit of(int digit) { return {static_cast<int8_t>(digit)}; }
};

/// Cuts elements_at_once consecutive elements of a vector into `count` digits; the digits of a slice follow each other,
/// slices are `stride` digits apart.
inline constexpr int elements_at_once = 4;
template <class Digit>
MMAFUZZ_HD void split_elements(const uint64_t* x, int top, int width, int count, Digit* slices, uint64_t stride) {
  uint64_t element[elements_at_once];
  for (int i = 0; i < elements_at_once; ++i) element[i] = x[i];
  for (int p = 1; p <= count; ++p, slices += stride) {
    struct alignas(elements_at_once * sizeof(Digit)) {
      Digit digit[elements_at_once];
    } digits;
    for (int i = 0; i < elements_at_once; ++i) digits.digit[i] = Digit::of(digit_of(element[i], top, p, width));
    *reinterpret_cast<decltype(digits)*>(slices) = digits;
  }
}

/// 2^exponent; exponent in -1022..1023.
MMAFUZZ_HD inline double power_of_two(int exponent) {
  const uint64_t bits = static_cast<uint64_t>(exponent + 1023) << 52;
#if defined(__CUDA_ARCH__)
  return __longlong_as_double(static_cast<long long>(bits));
#else
  double power;
  std::memcpy(&power, &bits, sizeof power);
  return power;
#endif
}

/// The products of slice p of a with slices 1 to `partners` of b.
struct SliceProducts {
  SliceWidths widths;
  int32_t p = 1, partners = 1;
  bool first = false, last = false;  ///< whether these are the first or last ones that are added
};

/// Adds an element's slice products to its sum, the least weight first. Each product is scaled by a power of two, which
/// is exact, so that each addition rounds once, fused or not. product[(q - 1) * stride] is the one of slice q of b.
/// After the last ones the sum is scaled by the tops of its row and column. A sum other than zero has no top_of_zero
/// there; 2^(top_a + top_b) must be a normal number.
template <class Value>
MMAFUZZ_HD double add_slice_products(const SliceProducts& s, double sum, const Value* product, uint64_t stride,
                                     int32_t top_a, int32_t top_b) {
  if (s.first) sum = 0;
  for (int q = s.partners; q >= 1; --q)
    sum += static_cast<double>(product[(q - 1) * stride]) * power_of_two(-s.p * s.widths.a - q * s.widths.b);
  if (s.last) sum = sum == 0 ? 0 : sum * power_of_two(top_a + top_b);
  return sum;
}

}  // namespace mmafuzz
