// A panel (generator.h) in the fast memory of a block of threads: 64 rows of a and at least 64 columns of b, each drawn
// and decoded once for all dots of which it is an operand. Every thread calls each step with its number: make_tables,
// plan, draw; c_of and claimed for some dots. Between steps the caller synchronizes the threads. The CUDA kernels of
// kernels/panel_kernel.cuh and tests/panel_test.cc run the same steps; sweep_step.h gives tiles the same operands.
#pragma once

#include "gpu_bridge/sweep/panel_claims.h"

namespace mmafuzz::sweep {

/// The panels that one of n blocks of threads takes: those with the numbers first, first + n, ... below end.
struct PanelsOfBlock {
  uint64_t first, end;
};
MMAFUZZ_HD inline PanelsOfBlock panels_of_block(const SweepRequest& r, uint64_t block) {
  const uint64_t tiles = static_cast<uint64_t>(tiles_of_panel(r.shape));
  return {r.first_tile / tiles + block, (r.first_tile + r.tiles + tiles - 1) / tiles};
}

/// The number of threads for a panel: 256, or as many as its tiles occupy if that is less.
MMAFUZZ_HD constexpr int panel_threads(const TileShape& s) { return smaller(256, tiles_of_panel(s) * s.lanes()); }

/// Claim: a struct of panel_claims.h, which computes a model's results. A vector is a row of a or a column of b; rows
/// have the first numbers.
template <class Claim, int column_count = panel_side, int thread_count = 256>
struct Panel {
  using Word = typename Claim::Word;
  static constexpr int rows = panel_side, columns = column_count, vectors = rows + columns, k = Claim::k;
  static constexpr int groups = panel_side / group_size, threads = thread_count, bytes = (Claim::a.width + 7) / 8;
  static constexpr int scales = Claim::scale_block ? k / Claim::scale_block : 0;

  // By vector, then product. Aligned for the loads of WMMA and wgmma.
  alignas(128) uint8_t encodings[vectors * k * bytes];
  alignas(16) uint8_t encoded_scales[larger(vectors * scales, 1)];
  typename Claim::template Kept<vectors> kept;  // the decoded elements
  // What generator.h draws from: plans of groups and of their products; patterns of a, b and c, and distances, by
  // number.
  GroupPlan group[groups];
  PairPlan pair[groups][k];
  Pattern<Word> table[3][patterns];
  int distance[distances];
  PanelKey key;

  MMAFUZZ_HD const uint8_t* row_encodings(int row) const { return encodings + row * k * bytes; }
  MMAFUZZ_HD const uint8_t* column_encodings(int column) const { return encodings + (rows + column) * k * bytes; }
  MMAFUZZ_HD const uint8_t* row_scales(int row) const { return encoded_scales + row * scales; }
  MMAFUZZ_HD const uint8_t* column_scales(int column) const { return encoded_scales + (rows + column) * scales; }

  /// corners_of() with the claim's constants. Claims have c and d of one format.
  MMAFUZZ_HD static Corners corners(const SweepRequest& r) {
    constexpr FormatFields sum = Claim::c;
    return {.a = Claim::a,
            .b = Claim::b,
            .c = sum,
            .scale_a = Claim::scale,
            .scale_b = Claim::scale,
            .k = k,
            .scale_block = Claim::scale_block,
            .d_emin = sum.emin(),
            .d_emax = sum.emax(),
            .fraction_bits = r.model.fraction_bits > 0 ? r.model.fraction_bits : sum.fraction_bits + 1,
            .output_fraction_bits = r.model.output_fraction_bits};
  }
  MMAFUZZ_HD static VectorPlace place_of(const PanelKey& panel_key, int vector) {
    const bool is_a = vector < rows;
    const int in_side = is_a ? vector : vector - rows;
    return {is_a, in_side, group_of(panel_key, is_a, in_side)};
  }

  /// The first step, once for all panels.
  MMAFUZZ_HD void make_tables(const SweepRequest& r, int thread) {
    const Corners m = corners(r);
    for (int i = thread; i < 3 * patterns; i += threads) {
      const int of = i / patterns, pick = i % patterns;
      table[of][pick] = pattern<Word>(of == 0 ? m.a : of == 1 ? m.b : m.c, pick);
    }
    for (int i = thread; i < distances; i += threads) distance[i] = corner_distance(m, i);
  }

  /// The first step of each panel: the plans of groups and products, and the scales.
  MMAFUZZ_HD void plan(const SweepSource& s, uint64_t panel, int thread) {
    const Corners m = corners(s.request);
    const PanelKey panel_key = key_of_panel(s.request.seed, panel);  // `key` is not set yet for the other threads
    if (thread == 0) key = panel_key;
    for (int i = thread; i < vectors; i += threads) Claim::clear(kept, i);
    for (int i = thread; i < groups * k; i += threads) {
      const int g = i / k;
      const GroupPlan p = plan_group(m, panel_key, s.request.parents, g);
      if (i % k == 0) group[g] = p;
      pair[g][i % k] = plan_pair(m, panel_key, p, g, i % k);
    }
    for (int i = thread; i < vectors * scales; i += threads) {
      const VectorPlace v = place_of(panel_key, i / larger(scales, 1));
      const GroupPlan p = plan_group(m, panel_key, s.request.parents, v.group);
      encoded_scales[i] = static_cast<uint8_t>(draw_scale(m, panel_key, s.parents, p, v, i % larger(scales, 1)));
    }
  }

  /// The second step of each panel: the elements of rows and columns, stored as encodings and decoded by the claim.
  MMAFUZZ_HD void draw(const SweepSource& s, int thread) {
    const Corners m = corners(s.request);
    const PanelKey panel_key = key;  // in registers
    for (int e = thread; e < vectors * k; e += threads) {
      const int vector = e / k, i = e % k;
      const VectorPlace v = place_of(panel_key, vector);
      const Word x = draw_element<Word>(m, panel_key, s.parents, group[v.group], pair[v.group][i],
                                        table[v.is_a ? 0 : 1], distance, v, i);
      write_element(encodings, bytes, e, x);
      Word read = x;
      if (v.is_a ? s.request.modifiers.negate_a : s.request.modifiers.negate_b) {
        const FormatFields f = m.format(v.is_a);
        read ^= static_cast<Word>(f.in_container(f.sign_bit()));
      }
      Claim::keep(kept, s.request, v.is_a, vector, i, read, encoded_scales + vector * scales);
    }
  }

  /// After draw(), the c of a dot, as an encoding: that of the parent of row and column, or one near a product.
  MMAFUZZ_HD Word c_of(const SweepSource& s, int row, int column) const {
    const Corners m = corners(s.request);
    const uint32_t h = hash(key, Stream::c, row * columns + column);
    const int g = group_of(key, /*is_a=*/true, row);
    if (g == group_of(key, /*is_a=*/false, column) && takes_parent_c(h) && group[g].parent >= 0)
      return parent_c<Word>(m, key, s.parents[group[g].parent], distance, h);
    return draw_c<Word>(m, key, table[2], distance, h,
                        Claim::near(kept, s.request, row, rows + column, element_near(h, k)));
  }

  /// The model's result of the dot with this c. Applies the modifiers.
  MMAFUZZ_HD Word claimed(const SweepRequest& r, int row, int column, Word c) const {
    if (!r.modifiers.scale_d) c = 0;
    if constexpr (!Claim::decides_specials)
      if (key.special)
        return Claim::with_specials(
            r, {row_encodings(row), column_encodings(column), row_scales(row), column_scales(column)}, c);
    return Claim::claimed(kept, r, row, rows + column, c);
  }
};

}  // namespace mmafuzz::sweep
