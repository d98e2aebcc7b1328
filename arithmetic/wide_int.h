// A fixed-width unsigned/two's complement integer: the exact accumulator behind exact sums (a Kulisch accumulator
// when it is as wide as the products' whole exponent range).
#pragma once

#include "arithmetic/host_device.h"

namespace mmafuzz {

/// Words * 64 bits, little-endian words, two's complement. Additions wrap; callers choose Words so that nothing does.
template <int Words>
struct WideInt {
  uint64_t word[Words] = {};

  MMAFUZZ_HD bool is_negative() const { return word[Words - 1] >> 63; }

  MMAFUZZ_HD bool is_zero() const {
    uint64_t any = 0;
    for (int i = 0; i < Words; ++i) any |= word[i];
    return any == 0;
  }

  MMAFUZZ_HD void negate() {
    uint64_t carry = 1;
    for (int i = 0; i < Words; ++i) {
      word[i] = ~word[i] + carry;
      carry = carry && word[i] == 0;
    }
  }

  /// this += (negative ? -1 : 1) * significand * 2^shift, shift >= 0; bits above the width are lost.
  MMAFUZZ_HD void add_shifted(bool negative, uint128 significand, int shift) {
    const int first = shift / 64, offset = shift % 64;
    const uint64_t low = static_cast<uint64_t>(significand), high = static_cast<uint64_t>(significand >> 64);
    uint64_t part[3] = {low << offset, high << offset, 0};
    if (offset) {
      part[1] |= low >> (64 - offset);
      part[2] = high >> (64 - offset);
    }
    uint64_t carry = 0;
    for (int i = 0; first + i < Words; ++i) {
      if (i >= 3 && !carry) break;
      const uint64_t addend = i < 3 ? part[i] : 0;
      uint64_t& w = word[first + i];
      if (negative) {
        const uint64_t before = w, step = w - addend;
        w = step - carry;
        carry = (before < addend) | (step < carry);
      } else {
        const uint64_t step = w + addend;
        const bool overflow = step < addend;
        w = step + carry;
        carry = overflow | (w < carry);
      }
    }
  }

  /// Position of the leading one bit plus one, of a non-negative value.
  MMAFUZZ_HD int length() const {
    for (int i = Words - 1; i >= 0; --i)
      if (word[i]) return 64 * i + bit_length(word[i]);
    return 0;
  }

  /// 64 bits from bit `position` on (which may reach above the top), of a non-negative value.
  MMAFUZZ_HD uint64_t bits_from(int position) const {
    const int i = position / 64, offset = position % 64;
    const uint64_t low = i < Words ? word[i] : 0, high = i + 1 < Words ? word[i + 1] : 0;
    return offset ? (low >> offset) | (high << (64 - offset)) : low;
  }

  /// Whether any bit below `position` is set, of a non-negative value.
  MMAFUZZ_HD bool any_below(int position) const {
    for (int i = 0; i < Words && 64 * i < position; ++i) {
      const int inside = position - 64 * i;
      if (word[i] & low_mask(inside)) return true;
    }
    return false;
  }
};

/// The product of two 128-bit numbers.
MMAFUZZ_HD inline WideInt<4> full_product(uint128 x, uint128 y) {
  const auto low = [](uint128 v) { return uint128{static_cast<uint64_t>(v)}; };
  WideInt<4> product;
  product.add_shifted(/*negative=*/false, low(x) * low(y), 0);
  product.add_shifted(/*negative=*/false, (x >> 64) * low(y), 64);
  product.add_shifted(/*negative=*/false, low(x) * (y >> 64), 64);
  product.add_shifted(/*negative=*/false, (x >> 64) * (y >> 64), 128);
  return product;
}

/// An exact value cut to 64 bits: value = significand * 2^exponent, plus, if sticky, a positive part below the last
/// bit.
struct Compressed {
  uint64_t significand;
  int exponent;
  bool sticky;
};

/// Cuts a non-negative WideInt whose unit weighs 2^exponent to its leading 64 bits.
template <int Words>
MMAFUZZ_HD Compressed compress(const WideInt<Words>& magnitude, int exponent) {
  const int drop = larger(0, magnitude.length() - 64);
  return {magnitude.bits_from(drop), exponent + drop, drop > 0 && magnitude.any_below(drop)};
}

}  // namespace mmafuzz
