// The parts of a sweep on tiles in memory, for host and device: the operands of a tile (generator.h), the model's
// result of a dot, the comparison and the bins. CUDA kernels and the host's loop only distribute the elements. `tile`
// is a tile's number in the sweep; the first tile in memory has the number request.first_tile.
#pragma once

#include "arithmetic/bins.h"
#include "arithmetic/evaluate_dot.h"
#include "gpu_bridge/sweep/generator.h"
#include "gpu_bridge/tiles/tile_memory.h"

namespace mmafuzz {

namespace sweep {

/// Writes row (is_a) or column `vector` of a tile, with its scales.
MMAFUZZ_HD inline void generate_vector(const SweepSource& s, const Tiles& all, uint64_t tile, bool is_a, int vector) {
  const TileShape& shape = s.request.shape;
  const Corners m = corners_of(s.request);
  const PanelPlace place = place_of_tile(shape, tile);
  const PanelKey key = key_of_panel(s.request.seed, place.panel);
  VectorPlace v{is_a, vector + (is_a ? place.first_row : place.first_column), 0};
  v.group = group_of(key, is_a, v.vector);
  const GroupPlan plan = plan_group(m, key, s.request.parents, v.group);
  const PatternOf<uint64_t> table{m.format(is_a)};
  const DistanceOf distance{m};
  const Tiles t = tiles_from(shape, all, tile - s.request.first_tile);
  uint8_t* elements = const_cast<uint8_t*>(is_a ? t.a : t.b);
  for (int i = 0; i < shape.k; ++i) {
    const PairPlan pair = plan_pair(m, key, plan, v.group, i);
    write_element(elements, shape.operand_bytes(), vector * shape.k + i,
                  draw_element<uint64_t>(m, key, s.parents, plan, pair, table, distance, v, i));
  }
  uint8_t* scales = const_cast<uint8_t*>(is_a ? t.scale_a : t.scale_b);
  for (int i = 0; i < shape.scales; ++i)
    scales[vector * shape.scales + i] = static_cast<uint8_t>(draw_scale(m, key, s.parents, plan, v, i));
}

/// Writes the c of a cell, after the tile's a and b. Here `cell` is row * n + column.
MMAFUZZ_HD inline void generate_c(const SweepSource& s, const Tiles& all, uint64_t tile, int cell) {
  const TileShape& shape = s.request.shape;
  const Corners m = corners_of(s.request);
  const Tiles t = tiles_from(shape, all, tile - s.request.first_tile);
  const int row = cell / shape.n, column = shape.b_column(row, cell % shape.n), bytes = shape.operand_bytes();
  const PanelPlace place = place_of_tile(shape, tile);
  const PanelKey key = key_of_panel(s.request.seed, place.panel);
  const int panel_row = place.first_row + row, panel_column = place.first_column + column;
  const uint32_t h = hash(key, Stream::c, index_of_c(shape, panel_row, panel_column));
  const DistanceOf distance{m};
  const int group = group_of(key, /*is_a=*/true, panel_row);
  uint64_t c;
  if (group == group_of(key, /*is_a=*/false, panel_column) && takes_parent_c(h)) {
    const GroupPlan plan = plan_group(m, key, s.request.parents, group);
    if (plan.parent >= 0) {
      c = parent_c<uint64_t>(m, key, s.parents[plan.parent], distance, h);
      write_element(const_cast<uint8_t*>(t.c), shape.c_bits / 8, cell, c);
      return;
    }
  }
  const int i = element_near(h, m.k), scale = m.scale_block ? i / m.scale_block : 0;
  const Factor x = factor(m.a, read_element(t.a, bytes, row * shape.k + i), m.scale_a,
                          m.scale_block ? t.scale_a + row * shape.scales + scale : nullptr),
               y = factor(m.b, read_element(t.b, bytes, column * shape.k + i), m.scale_b,
                          m.scale_block ? t.scale_b + column * shape.scales + scale : nullptr);
  const Leading<uint64_t> near =
      leading_of(m.c, static_cast<uint128>(x.significand) * y.significand, x.exponent + y.exponent);
  c = draw_c<uint64_t>(m, key, PatternOf<uint64_t>{m.c}, distance, h, near);
  write_element(const_cast<uint8_t*>(t.c), shape.c_bits / 8, cell, c);
}

/// The operands of one dot as the model reads them, after the modifiers. `in` points into this object.
struct Cell {
  uint64_t a[max_instruction_k], b[max_instruction_k], scale_a[4], scale_b[4];
  DotOperands in;

  MMAFUZZ_HD Cell(const SweepRequest& r, const Tiles& all, uint64_t tile, int cell) {
    const TileShape& s = r.shape;
    const Tiles t = tiles_from(s, all, tile - r.first_tile);
    const int row = cell / s.n, column = s.b_column(row, cell % s.n), bytes = s.operand_bytes();
    const uint64_t flip_a = r.modifiers.negate_a ? r.model.a.in_container(r.model.a.sign_bit()) : 0,
                   flip_b = r.modifiers.negate_b ? r.model.b.in_container(r.model.b.sign_bit()) : 0;
    for (int i = 0; i < s.k; ++i) {
      a[i] = read_element(t.a, bytes, row * s.k + i) ^ flip_a;
      b[i] = read_element(t.b, bytes, column * s.k + i) ^ flip_b;
    }
    for (int i = 0; i < s.scales; ++i) {
      scale_a[i] = t.scale_a[row * s.scales + i];
      scale_b[i] = t.scale_b[column * s.scales + i];
    }
    in.a = a;
    in.b = b;
    in.c = r.modifiers.scale_d ? read_element(t.c, s.c_bits / 8, cell) : 0;
    in.scale_a = scale_a;
    in.scale_b = scale_b;
    in.k = s.k;
  }
};

/// An integer dot, which wraps modulo 2^32 (PTX ISA, mma without .satfinite).
MMAFUZZ_HD inline uint64_t integer_sum(const DotOperands& in) {
  int64_t sum = static_cast<int32_t>(in.c);
  for (int i = 0; i < in.k; ++i) sum += int64_t{static_cast<int8_t>(in.a[i])} * static_cast<int8_t>(in.b[i]);
  return static_cast<uint32_t>(sum);
}

/// The claimed result of a dot.
MMAFUZZ_HD inline uint64_t claimed_result(const DotModel& m, const DotOperands& in) {
  return m.d.integer ? integer_sum(in) : evaluate_dot(m, in);
}

/// Whether a result is what the model claims: its encoding, or any NaN where the source of the model does not say
/// which.
MMAFUZZ_HD inline bool is_as_claimed(const SweepRequest& r, uint64_t got, uint64_t claimed) {
  if (got == claimed) return true;
  return r.any_nan && decode(r.model.d, got).cls == NumberClass::nan &&
         decode(r.model.d, claimed).cls == NumberClass::nan;
}

/// Reports each bin of a dot to sink.hit(bin), and a contradiction of its trace to sink.impossible(text).
template <class Sink>
MMAFUZZ_HD void trace_cell(const DotModel& m, const DotOperands& in, Sink& sink) {
  BinTrace<Sink> trace(m, in, sink);
  trace.finish(evaluate_dot(m, in, trace));
}

}  // namespace sweep
}  // namespace mmafuzz
