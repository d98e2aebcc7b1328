// One step of a sweep, for host and device: the operands of a tile as pure functions of seed and number, the model's
// result of a dot, the comparison and the bins. The kernels of sweep.cu and the host's loop only say who computes which
// element.
//
// Cases are numbered; row r and column q of a tile each take a case's a or b. Where both are of one case, the cell is
// that case with its own c; every other cell joins two cases and draws a c for what their products look like.
#pragma once

#include "arithmetic/bins.h"
#include "arithmetic/corner_encodings.h"
#include "arithmetic/evaluate_dot.h"
#include "gpu_bridge/sweep/sweep.h"
#include "gpu_bridge/tiles/tile_memory.h"

namespace mmafuzz {

struct SweepSource {
  SweepRequest request;
  const SweepParent* parents = nullptr;
};

namespace sweep {

/// Streams of random numbers that must not meet.
enum class Stream : uint64_t { plan, base, element_a, element_b, scale, c, order };

MMAFUZZ_HD inline CounterRng stream(const SweepSource& s, Stream which, uint64_t number, int element = 0) {
  return CounterRng(s.request.seed * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(which),
                    number * 128 + static_cast<uint64_t>(element));
}

MMAFUZZ_HD inline int clamped(int value, int low, int high) { return larger(low, smaller(value, high)); }

/// What all elements of a case know.
struct Plan {
  int parent = -1;    ///< index, or -1: a fresh case
  int reference = 0;  ///< leading exponent of the largest products
  int spread = 0;
  bool sparse = false, one_sign = false, patterned = false, specials = false;
  int move = 0, at = 0;  ///< of a mutated parent: what is moved, and the element
};

enum Move : int {
  ulp_a,
  ulp_b,
  exponent_a,
  exponent_b,
  sign_a,
  zero_a,
  fresh_pair,
  special_b,
  copy_pair,
  ulp_c,
  exponent_c,
  sign_c,
  zero_c,
  negated_product,
  scales,
  nothing,
  moves
};

MMAFUZZ_HD_CALL inline Plan plan_case(const SweepSource& s, uint64_t number) {
  CounterRng rng = stream(s, Stream::plan, number);
  const DotModel& m = s.request.model;
  Plan p;
  if (s.request.parents > 0 && (rng.next() & 1)) {
    p.parent = static_cast<int>(rng.below(s.request.parents));
    p.move = static_cast<int>(rng.below(moves));
    p.at = static_cast<int>(rng.below(static_cast<uint32_t>(s.request.shape.k)));
  }
  const int low = m.a.emin() + m.b.emin() - m.a.fraction_bits - m.b.fraction_bits, high = m.a.emax() + m.b.emax();
  switch (rng.below(6)) {
    case 0: p.reference = rng.between(low, high); break;
    case 1: p.reference = clamped(m.d.emax() - rng.between(-1, 6), low, high); break;
    case 2: p.reference = clamped(m.d.emin() - rng.between(-8, 30), low, high); break;
    default: p.reference = clamped(rng.between(-4, 4), low, high); break;
  }
  switch (rng.below(5)) {
    case 0: p.spread = 0; break;
    case 1: p.spread = rng.between(1, 4); break;
    case 2: p.spread = rng.between(10, 16); break;
    case 3: p.spread = rng.between(larger(m.fraction_bits - 4, 1), m.fraction_bits + 3); break;
    default: p.spread = rng.between(29, 60); break;
  }
  p.sparse = rng.one_in(3);
  p.one_sign = rng.one_in(6);
  p.patterned = rng.one_in(2);
  p.specials = rng.one_in(12);
  return p;
}

/// Bits below a tf32 fraction are ignored by hardware and worth setting.
MMAFUZZ_HD inline uint64_t container_noise(const FormatFields& f, uint64_t encoding, CounterRng& rng) {
  if (f.ignored_low_bits == 0 || !rng.one_in(3)) return encoding;
  return encoding | (rng.one_in(2) ? low_mask(f.ignored_low_bits) : rng.next() & low_mask(f.ignored_low_bits));
}

/// Where product i of a fresh case lies: both factors see the same.
struct Pair {
  int source;  ///< the element whose factors it takes
  bool zero, flipped, ulp;
  int target, exponent_of_a;
};

MMAFUZZ_HD inline Pair plan_pair(const SweepSource& s, const Plan& plan, uint64_t number, int i) {
  CounterRng rng = stream(s, Stream::base, number, i);
  Pair p{i, plan.sparse && !rng.one_in(3), false, false, 0, 0};
  if (!p.zero && i > 0 && rng.one_in(6)) {  // cancel or repeat an earlier product, perhaps one ulp off
    p.source = static_cast<int>(rng.below(static_cast<uint32_t>(i)));
    p.flipped = !rng.one_in(4);
    p.ulp = rng.one_in(3);
    rng = stream(s, Stream::base, number, p.source);
    rng.next();
  }
  p.target = plan.reference - (plan.spread ? static_cast<int>(rng.below(static_cast<uint32_t>(plan.spread) + 1)) : 0);
  const FormatFields& a = s.request.model.a;
  p.exponent_of_a = clamped(p.target / 2 + rng.between(-2, 2), a.emin() - a.fraction_bits, a.emax());
  return p;
}

/// Element i of a (or b) of a fresh case.
MMAFUZZ_HD_CALL inline uint64_t fresh_element(const SweepSource& s, const Plan& plan, uint64_t number, bool is_a,
                                              int i) {
  const FormatFields& f = is_a ? s.request.model.a : s.request.model.b;
  const Pair pair = plan_pair(s, plan, number, i);
  CounterRng rng = stream(s, is_a ? Stream::element_a : Stream::element_b, number, pair.source);
  if (f.integer) return rng.one_in(4) ? (uint64_t{1} << (f.width - 1)) - rng.below(2) : rng.next() & f.container_mask();
  if (pair.zero) {
    if (is_a) return f.encode_zero(rng.one_in(8));
    return rng.one_in(8) ? encode_near(f, rng.next() & 1, f.emax(), f.fraction_mask()) : f.encode_zero(rng.one_in(8));
  }
  const bool negative = !plan.one_sign && (rng.next() & 1);
  const uint64_t fraction = plan.patterned ? draw_fraction(f, rng) : rng.next() & f.fraction_mask();
  uint64_t x = encode_near(f, negative, is_a ? pair.exponent_of_a : pair.target - pair.exponent_of_a, fraction);
  x = container_noise(f, x, rng);
  if (plan.specials && rng.one_in(8)) x = draw_special(f, rng);
  if (is_a && pair.flipped) x ^= travelling_sign(f);
  if (is_a && pair.ulp) x ^= f.in_container(1);
  return x & f.container_mask();
}

MMAFUZZ_HD inline uint64_t one_ulp_off(const FormatFields& f, uint64_t x, CounterRng& rng) {
  return (x + (rng.next() & 1 ? f.in_container(1) : 0 - f.in_container(1))) & f.container_mask();
}

/// The distances at which alignment, rounding and formats have their corners.
MMAFUZZ_HD inline int corner_distance(const DotModel& m, CounterRng& rng) {
  const int f = m.fraction_bits > 0 ? m.fraction_bits : m.d.fraction_bits + 1;
  switch (rng.below(8)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return rng.between(2, 4);
    case 3: return m.output_fraction_bits + rng.between(-1, 2);
    case 4: return rng.between(10, 14);
    case 5: return rng.between(f + 3, f + 9);
    default: return f + rng.between(-2, 2);
  }
}

/// Element i of a (or b) of a case.
MMAFUZZ_HD_CALL inline uint64_t draw_element(const SweepSource& s, const Plan& plan, uint64_t number, bool is_a,
                                             int i) {
  if (plan.parent < 0) return fresh_element(s, plan, number, is_a, i);
  const DotModel& m = s.request.model;
  const SweepParent& parent = s.parents[plan.parent];
  const FormatFields& f = is_a ? m.a : m.b;
  const uint64_t x = is_a ? parent.a[i] : parent.b[i];
  if (i != plan.at) return x;
  CounterRng rng = stream(s, is_a ? Stream::element_a : Stream::element_b, number, i);
  switch (plan.move) {
    case fresh_pair: return fresh_element(s, plan, number, is_a, i);
    case copy_pair: {
      const int j = (i + 1) % s.request.shape.k;
      return (is_a ? parent.a[j] ^ travelling_sign(f) : parent.b[j]) & f.container_mask();
    }
    case ulp_a: return is_a ? one_ulp_off(f, x, rng) : x;
    case ulp_b: return is_a ? x : one_ulp_off(f, x, rng);
    case exponent_a:
    case exponent_b: {
      if (is_a != (plan.move == exponent_a) || f.integer) return x;
      const int distance = corner_distance(m, rng);
      return with_exponent(f, x, leading_exponent(f, x) + (rng.next() & 1 ? distance : -distance)) & f.container_mask();
    }
    case sign_a: return is_a ? x ^ travelling_sign(f) : x;
    case zero_a: return is_a ? f.encode_zero(rng.next() & 1) : x;
    case special_b: return is_a || f.integer ? x : draw_special(f, rng);
    default: break;
  }
  return x;
}

MMAFUZZ_HD inline uint64_t draw_scale(const SweepSource& s, const Plan& plan, uint64_t number, bool is_a, int i) {
  const DotModel& m = s.request.model;
  const FormatFields& f = is_a ? m.scale_a : m.scale_b;
  if (plan.parent >= 0 && plan.move != scales)
    return is_a ? s.parents[plan.parent].scale_a[i] : s.parents[plan.parent].scale_b[i];
  CounterRng rng = stream(s, Stream::scale, number, i + (is_a ? 0 : 64));
  if (rng.one_in(24)) return rng.one_in(3) ? f.encode_nan() : rng.next() & f.container_mask();
  const uint64_t fraction = draw_fraction(f, rng);
  const int exponent = rng.between(-6, 6);
  return encode_near(f, false, exponent, fraction);
}

/// A c for given operands: zero, special, minus a product, or at a corner's distance from one.
MMAFUZZ_HD_CALL inline uint64_t draw_c(const SweepSource& s, CounterRng& rng, const uint8_t* a, const uint8_t* b,
                                       int bytes) {
  const DotModel& m = s.request.model;
  const FormatFields& f = m.c;
  if (f.integer) return rng.one_in(2) ? rng.next() & f.container_mask() : (uint64_t{1} << (f.width - 1)) - rng.below(4);
  const uint32_t kind = rng.below(10);
  if (kind < 2) return f.encode_zero(rng.one_in(3));
  if (kind == 2) return draw_special(f, rng);
  const int i = static_cast<int>(rng.below(static_cast<uint32_t>(s.request.shape.k)));
  const Number x = decode(m.a, read_element(a, bytes, i)), y = decode(m.b, read_element(b, bytes, i));
  if (x.cls != NumberClass::finite || y.cls != NumberClass::finite) return rng.next() & f.container_mask();
  if (kind < 5) {  // cancels to a chosen depth
    RoundingRule rule;
    rule.overflow = Overflow::saturate;
    const uint64_t c =
        round_exact(f, exact_product(to_exact(x), to_exact(y)), rule).encoding ^ f.in_container(f.sign_bit());
    return rng.one_in(2) ? c : c ^ f.in_container(1);
  }
  const int leading = x.exponent + fast_bit_length(x.significand) + y.exponent + fast_bit_length(y.significand) - 2;
  const int distance = corner_distance(m, rng);
  const uint64_t fraction = draw_fraction(f, rng);
  const bool above = rng.next() & 1;
  const bool negative = rng.next() & 1;
  const uint64_t c = encode_near(f, negative, leading + (above ? distance : -distance), fraction);
  return container_noise(f, c, rng) & f.container_mask();
}

/// c of a case that stands whole in a cell.
MMAFUZZ_HD_CALL inline uint64_t draw_own_c(const SweepSource& s, const Plan& plan, CounterRng& rng, const uint8_t* a,
                                           const uint8_t* b, int bytes) {
  if (plan.parent < 0 || plan.move == negated_product) return draw_c(s, rng, a, b, bytes);
  const DotModel& m = s.request.model;
  const uint64_t c = s.parents[plan.parent].c;
  switch (plan.move) {
    case ulp_c: return one_ulp_off(m.c, c, rng);
    case sign_c: return c ^ travelling_sign(m.c);
    case zero_c: return m.c.encode_zero(rng.next() & 1);
    case exponent_c: {
      if (m.c.integer) return c;
      const int distance = corner_distance(m, rng);
      return with_exponent(m.c, c, leading_exponent(m.c, c) + (rng.next() & 1 ? distance : -distance)) &
             m.c.container_mask();
    }
    default: return c;
  }
}

/// Which case of a tile a row (or column) takes: orders vary from tile to tile, so that a case's place and neighbours
/// do.
MMAFUZZ_HD inline uint64_t case_of_vector(const SweepSource& s, uint64_t tile, bool is_a, int vector) {
  const TileShape& shape = s.request.shape;
  CounterRng rng = stream(s, Stream::order, tile, is_a ? 0 : 1);
  const uint32_t multiplier = static_cast<uint32_t>(rng.next()) | 1, offset = static_cast<uint32_t>(rng.next());
  const int n = is_a ? shape.m : shape.n, matrix = vector / n;
  const uint32_t in_matrix = (static_cast<uint32_t>(vector % n) * multiplier + offset) % static_cast<uint32_t>(n);
  return tile * static_cast<uint64_t>(larger(shape.rows(), shape.columns())) + static_cast<uint64_t>(matrix * n) +
         in_matrix;
}

/// Row (is_a) or column `vector` of a tile, with its scales.
MMAFUZZ_HD inline void generate_vector(const SweepSource& s, const Tiles& all, uint64_t tile, bool is_a, int vector) {
  const TileShape& shape = s.request.shape;
  const uint64_t number = case_of_vector(s, tile, is_a, vector);
  const Plan plan = plan_case(s, number);
  const Tiles t = tiles_from(shape, all, tile - s.request.first_tile);
  uint8_t* elements = const_cast<uint8_t*>(is_a ? t.a : t.b);
  for (int i = 0; i < shape.k; ++i)
    write_element(elements, shape.operand_bytes(), vector * shape.k + i, draw_element(s, plan, number, is_a, i));
  uint8_t* scales = const_cast<uint8_t*>(is_a ? t.scale_a : t.scale_b);
  for (int i = 0; i < shape.scales; ++i)
    scales[vector * shape.scales + i] = static_cast<uint8_t>(draw_scale(s, plan, number, is_a, i));
}

/// c of a cell, once the tile's a and b are there.
MMAFUZZ_HD inline void generate_c(const SweepSource& s, const Tiles& all, uint64_t tile, int cell) {
  const TileShape& shape = s.request.shape;
  const Tiles t = tiles_from(shape, all, tile - s.request.first_tile);
  const int row = cell / shape.n, column = shape.b_column(row, cell % shape.n), bytes = shape.operand_bytes();
  const uint8_t* a = t.a + row * shape.k * bytes;
  const uint8_t* b = t.b + column * shape.k * bytes;
  CounterRng rng = stream(s, Stream::c, tile * static_cast<uint64_t>(shape.cells()) + static_cast<uint64_t>(cell));
  const uint64_t of_row = case_of_vector(s, tile, true, row);
  const bool whole = of_row == case_of_vector(s, tile, false, column);
  const uint64_t c = whole ? draw_own_c(s, plan_case(s, of_row), rng, a, b, bytes) : draw_c(s, rng, a, b, bytes);
  write_element(const_cast<uint8_t*>(t.c), shape.c_bits / 8, cell, c);
}

/// The operands of one cell, as the models read them.
struct Cell {
  uint64_t a[max_instruction_k], b[max_instruction_k], scale_a[4], scale_b[4];
  DotOperands in;

  MMAFUZZ_HD Cell(const SweepRequest& r, const Tiles& all, uint64_t tile, int cell) {
    const TileShape& s = r.shape;
    const Tiles t = tiles_from(s, all, tile - r.first_tile);
    const int row = cell / s.n, column = s.b_column(row, cell % s.n), bytes = s.operand_bytes();
    const uint64_t flip_a = r.modifiers.negate_a ? travelling_sign(r.model.a) : 0,
                   flip_b = r.modifiers.negate_b ? travelling_sign(r.model.b) : 0;
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

/// Reports each bin of a dot to sink.hit(bin), what cannot be to sink.impossible(text).
template <class Sink>
MMAFUZZ_HD void trace_cell(const DotModel& m, const DotOperands& in, Sink& sink) {
  BinTrace<Sink> trace(m, in, sink);
  trace.finish(evaluate_dot(m, in, trace));
}

}  // namespace sweep
}  // namespace mmafuzz
