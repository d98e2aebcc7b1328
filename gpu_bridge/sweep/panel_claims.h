// The claims of sweeps in panels: one struct for each kind of model, which decodes each element once and computes the
// model's result of any dot from the decoded row and column. `Kept<vectors>` holds the decoded rows, then columns.
// clear() resets a vector and keep() stores its element i; near() returns the product i of row x and column y (indexes
// of vectors) for draw_c, claimed() the model's result with c = addend. Where `decides_specials` is false, claimed() is
// for dots without infinities and NaNs, and with_specials() for the others.
#pragma once

#include "arithmetic/decoded_chain.h"
#include "arithmetic/decoded_groups.h"
#include "arithmetic/decoded_sum.h"
#include "arithmetic/evaluate_dot.h"
#include "gpu_bridge/sweep/sweep_step.h"

namespace mmafuzz::sweep {

/// Sets bits of a word of which other threads set other bits at the same time.
template <class Word>
MMAFUZZ_HD void set_bits(Word& word, Word bits) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(Word) == 8)
    atomicOr(reinterpret_cast<unsigned long long*>(&word), static_cast<unsigned long long>(bits));
  else atomicOr(&word, bits);
#else
  word |= bits;
#endif
}

/// The encodings of one dot, as they lie in the panel.
struct StoredDot {
  const uint8_t *a, *b, *scale_a, *scale_b;
};

/// Truncated fused sums, also of emulated FP8.
template <NarrowShape S, bool is_half>  // is_half: c and d are fp16; else fp32
struct FusedClaim {
  using Word = uint32_t;
  static constexpr FormatFields a = S.a, b = S.b, c = narrow::result_fields(is_half);
  static constexpr FormatFields scale = S.scale;
  static constexpr int k = S.k, scale_block = scale.width ? S.k : 0;
  static constexpr bool decides_specials = false;
  static constexpr int stride = k + 4;  // so that neighbouring vectors lie in different banks of shared memory

  template <int vectors>
  struct Kept {
    alignas(16) uint32_t significand[vectors][stride];
    alignas(16) int16_t exponent[vectors][stride];
    uint32_t minus[vectors], zero_blocks[vectors];  // a bit for each negative element; for each block with a zero
  };

  template <class K>
  MMAFUZZ_HD static void clear(K& kept, int vector) {
    kept.minus[vector] = kept.zero_blocks[vector] = 0;
  }
  /// The number of bits by which b's significands are shifted up, so that products have fraction_bits fraction bits.
  MMAFUZZ_HD static int shift_of_b(const SweepRequest& r) { return r.model.fraction_bits - narrow::product_bits<S>(); }
  MMAFUZZ_HD static int exponent_of(const uint8_t* scales) {
    constexpr FormatFields f = scale;  // device code cannot refer to a member
    if constexpr (f.width != 0) return decode_scale(f, *scales).exponent;
    return 0;
  }

  template <class K>
  MMAFUZZ_HD static void keep(K& kept, const SweepRequest& r, bool is_a, int vector, int i, Word read,
                              const uint8_t* scales) {
    const DecodedElement d = narrow::decode_element<S>(is_a, read, exponent_of(scales));
    const int p = narrow::position<S>(i);
    kept.significand[vector][p] = is_a ? d.significand : d.significand << shift_of_b(r);
    kept.exponent[vector][p] = d.exponent;
    if (d.minus) set_bits(kept.minus[vector], 1u << p);
    if (d.significand == 0) set_bits(kept.zero_blocks[vector], 1u << p / S.summed().block);
  }

  template <class K>
  MMAFUZZ_HD static Leading<Word> near(const K& kept, const SweepRequest& r, int x, int y, int i) {
    constexpr FormatFields sum = c;
    const int p = narrow::position<S>(i);
    return leading_of(sum, kept.significand[x][p] * kept.significand[y][p] >> shift_of_b(r),
                      kept.exponent[x][p] + kept.exponent[y][p] - narrow::product_bits<S>());
  }

  template <class K>
  MMAFUZZ_HD static Word claimed(const K& kept, const SweepRequest& r, int x, int y, Word addend) {
    return decoded_fused_sum<S>(r.model, is_half,
                                {kept.significand[x], kept.exponent[x], kept.minus[x], kept.zero_blocks[x]},
                                {kept.significand[y], kept.exponent[y], kept.minus[y], kept.zero_blocks[y]}, addend);
  }

  MMAFUZZ_HD_CALL static Word with_specials(const SweepRequest& r, const StoredDot& dot, Word addend) {
    constexpr int bytes = (S.a.width + 7) / 8;
    int scales = 0;
    if constexpr (scale.width != 0) {
      constexpr FormatFields f = scale;
      const DecodedScale scale_a = decode_scale(f, *dot.scale_a), scale_b = decode_scale(f, *dot.scale_b);
      if (scale_a.is_nan || scale_b.is_nan) return static_cast<Word>(r.model.nan);
      scales = scale_a.exponent + scale_b.exponent;
    }
    uint32_t x[S.k], y[S.k];
    const uint32_t flip_a = r.modifiers.negate_a ? static_cast<uint32_t>(S.a.in_container(S.a.sign_bit())) : 0,
                   flip_b = r.modifiers.negate_b ? static_cast<uint32_t>(S.b.in_container(S.b.sign_bit())) : 0;
    for (int i = 0; i < S.k; ++i) {
      x[i] = static_cast<uint32_t>(read_element(dot.a, bytes, i)) ^ flip_a;
      y[i] = static_cast<uint32_t>(read_element(dot.b, bytes, i)) ^ flip_b;
    }
    return narrow_fused_sum<S>(r.model, x, y, addend, scales);
  }
};

/// Grouped sums of e2m1; `block` products share a scale.
template <FormatFields e2m1, FormatFields scale_format, int block>
struct GroupedClaim {
  using Word = uint32_t;
  static constexpr FormatFields a = e2m1, b = e2m1, c = narrow::result_fields(false), scale = scale_format;
  static constexpr int k = grouped_products, scale_block = block, scales = k / block;
  static constexpr bool decides_specials = true;

  template <int vectors>
  struct Kept {
    alignas(16) uint32_t bytes[vectors][k / 4 + 4];  // twice each element, as int8_t; + 4: banks, as above
    uint64_t nonzero[vectors];
    DecodedScale scale[vectors][scales];
  };

  template <class K>
  MMAFUZZ_HD static void clear(K& kept, int vector) {
    kept.nonzero[vector] = 0;
  }

  template <class K>
  MMAFUZZ_HD static void keep(K& kept, const SweepRequest&, bool, int vector, int i, Word read,
                              const uint8_t* encoded_scales) {
    const int8_t twice = twice_e2m1(read);
    reinterpret_cast<int8_t*>(kept.bytes[vector])[i] = twice;
    if (twice) set_bits(kept.nonzero[vector], uint64_t{1} << i);
    constexpr FormatFields f = scale_format;
    if (i % block == 0) kept.scale[vector][i / block] = decode_scale(f, encoded_scales[i / block]);
  }

  template <class K>
  MMAFUZZ_HD static Leading<Word> near(const K& kept, const SweepRequest&, int x, int y, int i) {
    const int p = reinterpret_cast<const int8_t*>(kept.bytes[x])[i],
              q = reinterpret_cast<const int8_t*>(kept.bytes[y])[i];
    constexpr FormatFields sum = c;
    return leading_of(sum, static_cast<uint32_t>(p * q < 0 ? -p * q : p * q),
                      kept.scale[x][i / block].exponent + kept.scale[y][i / block].exponent - 2);
  }

  template <class K>
  MMAFUZZ_HD static Word claimed(const K& kept, const SweepRequest& r, int x, int y, Word addend) {
    return decoded_grouped_sum<scale.fraction_bits, block>(r.model, {kept.bytes[x], kept.scale[x], kept.nonzero[x]},
                                                           {kept.bytes[y], kept.scale[y], kept.nonzero[y]}, addend);
  }
};

/// Sums of s8 products and c that wrap modulo 2^32.
template <FormatFields s8, FormatFields s32, int length>
struct IntegerClaim {
  using Word = uint32_t;
  static constexpr FormatFields a = s8, b = s8, c = s32, scale{};
  static constexpr int k = length, scale_block = 0;
  static constexpr bool decides_specials = true;

  template <int vectors>
  struct Kept {
    alignas(16) uint32_t bytes[vectors][k / 4 + 4];
  };

  template <class K>
  MMAFUZZ_HD static void clear(K&, int) {}
  template <class K>
  MMAFUZZ_HD static void keep(K& kept, const SweepRequest&, bool, int vector, int i, Word read, const uint8_t*) {
    reinterpret_cast<uint8_t*>(kept.bytes[vector])[i] = static_cast<uint8_t>(read);
  }
  template <class K>
  MMAFUZZ_HD static Leading<Word> near(const K&, const SweepRequest&, int, int, int) {
    return {0, 0};  // an integer c does not depend on products
  }
  template <class K>
  MMAFUZZ_HD static Word claimed(const K& kept, const SweepRequest&, int x, int y, Word addend) {
    int32_t sum = static_cast<int32_t>(addend);
    MMAFUZZ_UNROLL
    for (int i = 0; i < k / 4; ++i) sum = dot_of_bytes(kept.bytes[x][i], kept.bytes[y][i], sum);
    return static_cast<Word>(sum);
  }
};

/// Chains of FMA in fp64.
template <int length>
struct ChainClaim {
  using Word = uint64_t;
  static constexpr FormatFields a = ieee_fields(11, 52), b = a, c = a, scale{};
  static constexpr int k = length, scale_block = 0;
  static constexpr bool decides_specials = false;

  template <int vectors>
  struct Kept {
    DecodedDouble element[vectors][k];
  };

  template <class K>
  MMAFUZZ_HD static void clear(K&, int) {}
  template <class K>
  MMAFUZZ_HD static void keep(K& kept, const SweepRequest&, bool, int vector, int i, Word read, const uint8_t*) {
    kept.element[vector][i] = decode_double(read);
    if (kept.element[vector][i].infinite) kept.element[vector][i].significand = 0;  // a zero for near()
  }
  template <class K>
  MMAFUZZ_HD static Leading<Word> near(const K& kept, const SweepRequest&, int x, int y, int i) {
    const DecodedDouble &p = kept.element[x][i], &q = kept.element[y][i];
    constexpr FormatFields sum = c;
    return leading_of(sum, static_cast<uint128>(p.significand) * q.significand, p.exponent + q.exponent);
  }
  template <class K>
  MMAFUZZ_HD static Word claimed(const K& kept, const SweepRequest&, int x, int y, Word addend) {
    DecodedDouble sum = decode_double(addend);
    for (int i = 0; i < k; ++i) sum = chain::multiply_add(kept.element[x][i], kept.element[y][i], sum);
    return encode_double(sum);
  }

  MMAFUZZ_HD_CALL static Word with_specials(const SweepRequest& r, const StoredDot& dot, Word addend) {
    DotModel m = r.model;
    m.kernel = Kernel::fma_chain;
    uint64_t x[k], y[k];
    for (int i = 0; i < k; ++i) {
      x[i] = read_element(dot.a, 8, i);
      y[i] = read_element(dot.b, 8, i);
    }
    DotOperands in;
    in.a = x;
    in.b = y;
    in.c = addend;
    in.k = k;
    return evaluate_dot(m, in);
  }
};

}  // namespace mmafuzz::sweep
