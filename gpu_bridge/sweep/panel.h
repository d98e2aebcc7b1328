// A panel in fast memory: rows and columns that 64 x 64 dots share, drawn and decoded once. Each step says what one of
// `threads` threads does; between steps all threads meet. The kernel of kernels/panel.cu and tests/panel_test.cc run
// the same steps; the operands are those of generate_vector and generate_c.
#pragma once

#include "arithmetic/decoded_sum.h"
#include "gpu_bridge/sweep/sweep_step.h"

#if defined(MMAFUZZ_COUNT) && defined(__CUDA_ARCH__)
/// For ci/count_instructions.py: the code around runs n times for each warp in each panel; 0: seldom.
#define MMAFUZZ_RUNS(n) asm volatile("pmevent.mask %0;" ::"n"((n) + 1))
#else
#define MMAFUZZ_RUNS(n)
#endif

namespace mmafuzz::sweep {

template <NarrowShape S, bool half>
struct Panel {
  static constexpr int side = panel_side, groups = side / group_size, threads = 256, bytes = (S.a.width + 7) / 8;
  static constexpr int stride = S.k + 4;  // neighbours' elements lie in different banks
  using Word = uint32_t;

  alignas(16) uint32_t significand[2][side][stride];
  int32_t exponent[2][side][stride];
  uint32_t minus[2][side][stride];
  alignas(16) uint8_t encodings[2][side * S.k * bytes];
  uint32_t zero_blocks[2][side];
  GroupPlan group[groups];
  PairPlan pair[groups][S.k];
  Pattern<Word> table[3][patterns];  // of a, b, c
  int distance[distances];
  PanelKey key;

  MMAFUZZ_HD static Corners corners(const SweepRequest& r) {
    const FormatFields d = narrow::result_fields(half);
    return {S.a, S.b, d, {}, {}, S.k, 0, d.emin(), d.emax(), r.model.fraction_bits, r.model.output_fraction_bits};
  }

  /// Once.
  MMAFUZZ_HD void make_tables(const SweepRequest& r, int thread) {
    const Corners m = corners(r);
    for (int i = thread; i < 3 * patterns; i += threads)
      table[i / patterns][i % patterns] = pattern<Word>(i / patterns == 0   ? m.a
                                                        : i / patterns == 1 ? m.b
                                                                            : m.c,
                                                        i % patterns);
    for (int i = thread; i < distances; i += threads) distance[i] = corner_distance(m, i);
  }

  /// Of each panel the first step: what rows and columns have in common.
  MMAFUZZ_HD void plan(const SweepSource& s, uint64_t panel, int thread) {
    const Corners m = corners(s.request);
    const PanelKey k = key_of_panel(s.request.seed, panel);
    if (thread == 0) key = k;
    for (int i = thread; i < 2 * side; i += threads) zero_blocks[i / side][i % side] = 0;
    for (int i = thread; i < groups * S.k; i += threads) {
      MMAFUZZ_RUNS((groups * S.k + threads - 1) / threads);
      const int g = i / S.k;
      const GroupPlan p = plan_group(m, k, s.request.parents, g);
      if (i % S.k == 0) group[g] = p;
      pair[g][i % S.k] = plan_pair(m, k, p, g, i % S.k);
    }
  }

  /// The second: rows and columns.
  MMAFUZZ_HD void draw(const SweepSource& s, int thread) {
    const Corners m = corners(s.request);
    const PanelKey k = key;
    const int up = s.request.model.fraction_bits - narrow::product_bits<S>();
    for (int e = thread; e < 2 * side * S.k; e += threads) {
      MMAFUZZ_RUNS(2 * side * S.k / threads);
      const int of = e / (side * S.k), vector = e / S.k % side, i = e % S.k;
      const bool is_a = of == 0;
      const VectorPlace v{is_a, vector, group_of(k, is_a, vector, side)};
      const Word x = draw_element<Word>(m, k, s.parents, group[v.group], pair[v.group][i], table[of], distance, v, i);
      write_element(encodings[of], bytes, vector * S.k + i, x);
      Word read = x;
      if (is_a ? s.request.modifiers.negate_a : s.request.modifiers.negate_b)
        read ^= static_cast<Word>((is_a ? S.a : S.b).in_container((is_a ? S.a : S.b).sign_bit()));
      const DecodedElement d = narrow::decode_element<S>(is_a, read, 0);
      const int at = narrow::position<S>(i);
      significand[of][vector][at] = is_a ? d.significand : d.significand << up;
      exponent[of][vector][at] = d.exponent;
      minus[of][vector][at] = d.minus;
      if (d.significand == 0) {
        const uint32_t bit = 1u << at / narrow::summed_shape<S>().block;
#if defined(__CUDA_ARCH__)
        atomicOr(&zero_blocks[of][vector], bit);
#else
        zero_blocks[of][vector] |= bit;
#endif
      }
    }
  }

  /// Then, for any cell: its c ...
  MMAFUZZ_HD uint32_t c_of(const SweepSource& s, const TileShape& shape, int row, int column) const {
    const Corners m = corners(s.request);
    const uint32_t h = hash(key, Stream::c, index_of_c(shape, row, column));
    const int g = group_of(key, true, row, side);
    if (g == group_of(key, false, column, side) && takes_parent_c(h) && group[g].parent >= 0)
      return parent_c<Word>(m, key, s.parents[group[g].parent], distance, h);
    const int at = narrow::position<S>(element_near(h, S.k));
    const int up = s.request.model.fraction_bits - narrow::product_bits<S>();
    const uint32_t product = significand[0][row][at] * significand[1][column][at] >> up;
    const Leading<Word> near =
        leading_of(m.c, product, exponent[0][row][at] + exponent[1][column][at] - narrow::product_bits<S>());
    return draw_c<Word>(m, key, table[2], distance, h, near);
  }

  /// ... and what the model gives.
  MMAFUZZ_HD uint32_t claimed(const SweepRequest& r, int row, int column, uint32_t c) const {
    if (!r.modifiers.scale_d) c = 0;
    if (key.special) {
      MMAFUZZ_RUNS(0);
      return claimed_with_specials(r, row, column, c);
    }
    return decoded_fused_sum<S>(
        r.model, half, {significand[0][row], exponent[0][row], minus[0][row], zero_blocks[0][row]},
        {significand[1][column], exponent[1][column], minus[1][column], zero_blocks[1][column]}, c);
  }

  MMAFUZZ_HD_CALL uint32_t claimed_with_specials(const SweepRequest& r, int row, int column, uint32_t c) const {
    uint32_t a[S.k], b[S.k];
    const uint32_t flip_a = r.modifiers.negate_a ? static_cast<uint32_t>(S.a.in_container(S.a.sign_bit())) : 0,
                   flip_b = r.modifiers.negate_b ? static_cast<uint32_t>(S.b.in_container(S.b.sign_bit())) : 0;
    for (int i = 0; i < S.k; ++i) {
      a[i] = static_cast<uint32_t>(read_element(encodings[0], bytes, row * S.k + i)) ^ flip_a;
      b[i] = static_cast<uint32_t>(read_element(encodings[1], bytes, column * S.k + i)) ^ flip_b;
    }
    return narrow_fused_sum<S>(r.model, a, b, c);
  }
};

}  // namespace mmafuzz::sweep
