// Host twins of the matrix kernels: the same loads into fragments and the same stores, with the instruction replaced by
// one model evaluation per dot. What they prove is everything but the instruction itself.
#pragma once

#include <algorithm>
#include <vector>

#include "arithmetic/dot_model.h"
#include "gpu_bridge/tiles/launch.h"

namespace mmafuzz {

/// Sparse a: which element of a column of b the product `at` of a row takes, as the lanes' metadata says (PTX ISA,
/// "Matrix fragments for multiply-accumulate operation with sparse matrix A"; selector 0).
inline int multiplied_element(const TileShape& s, const uint32_t* metadata, int row, int at) {
  const int quad = row / 16 * 32 + row % 8 * 4, upper = row % 16 / 8, group = s.neighbours == 2 ? at : at / 2;
  const uint32_t field = s.operand_bits == 8 ? metadata[quad + upper + group / 8 * 2] >> (4 * (group % 8))
                                             : metadata[quad + group / 4] >> (16 * upper + 4 * (group % 4));
  if (s.neighbours == 2) return 2 * group + ((field & 15) == 14);
  return 4 * group + static_cast<int>(at % 2 ? field >> 2 & 3 : field & 3);
}

/// One instruction on fragments: gathers the matrices from the registers of all lanes, evaluates each dot and scatters
/// d. evaluate(operands) gives the encoding of d; of the modifiers, it has to heed what changes values, and this where
/// operands lie.
template <TileShape S, class Evaluate>
void run_tiles_on_host(const Tiles& all, uint64_t count, const Evaluate& evaluate, const WgmmaModifiers& with = {}) {
  constexpr int lanes = S.lanes();
  using Registers = std::vector<uint32_t>;
  const auto file = [](int registers) { return Registers(size_t(lanes) * size_t(registers)); };
  Registers a = file(S.a_registers()), b = file(S.b_registers()), c = file(S.c_registers()), d = file(S.d_registers());
  std::vector<uint32_t> scale_a(lanes), scale_b(lanes);
  std::vector<uint8_t> shared(size_t(S.columns() * S.b_length() * S.operand_bytes())),
      shared_a(size_t(S.rows() * S.k * S.operand_bytes()));
  constexpr int length = S.b_length();
  std::vector<uint64_t> rows(size_t(S.rows() * S.k)), columns(size_t(S.columns() * length)), sums(size_t(S.cells())),
      multiplied(size_t(S.k));
  for (uint64_t tile = 0; tile < count; ++tile) {
    const Tiles t = tiles_from(S, all, tile);
    for (int lane = 0; lane < lanes; ++lane) load_c<S>(t, lane, &c[size_t(lane * S.c_registers())]);
    for (int step = 0; step < t.steps; ++step) {
      for (int lane = 0; lane < lanes; ++lane) {
        load_a<S>(t, step, lane, &a[size_t(lane * S.a_registers())]);
        if constexpr (S.family == TileFamily::wgmma) {
          share_operand<S>(t, step, lane, false, with.transpose_b, shared.data());
          if (with.shared_a) share_operand<S>(t, step, lane, true, with.transpose_a, shared_a.data());
        } else {
          load_b<S>(t, step, lane, &b[size_t(lane * S.b_registers())]);
        }
        if constexpr (S.scales > 0 || S.neighbours > 0) {
          scale_a[size_t(lane)] = load_scale_a<S>(t, step, lane);
          scale_b[size_t(lane)] = load_scale_b<S>(t, step, lane);
        }
      }
      for (int lane = 0; lane < lanes; ++lane) {
        for (int i = 0; i < S.a_elements(); ++i) {
          const Place p = a_place(S, lane, i);
          rows[size_t(p.row * S.k + p.column)] =
              get_field(&a[size_t(lane * S.a_registers())], S.operand_bits, i) >> S.shift_a;
        }
        for (int i = 0; S.family == TileFamily::mma && i < S.b_elements(); ++i) {
          const Place p = b_place(S, lane, i);
          columns[size_t(p.column * length + p.row)] =
              get_field(&b[size_t(lane * S.b_registers())], S.operand_bits, i) >> S.shift_b;
        }
        for (int i = 0; i < S.c_elements(); ++i) {
          const Place p = c_place(S, S.c_bits, lane, i);
          sums[size_t(p.row * S.n + p.column)] = get_field(&c[size_t(lane * S.c_registers())], S.c_bits, i);
        }
      }
      for (int e = 0; S.family == TileFamily::wgmma && e < S.columns() * length; ++e)
        columns[size_t(e)] =
            read_element(shared.data() + shared_operand(S, false, with.transpose_b).byte_of(e % length, e / length),
                         S.operand_bytes(), 0);
      for (int e = 0; with.shared_a && e < S.rows() * S.k; ++e)
        rows[size_t(e)] =
            read_element(shared_a.data() + shared_operand(S, true, with.transpose_a).byte_of(e % S.k, e / S.k),
                         S.operand_bytes(), 0);
      std::fill(d.begin(), d.end(), 0u);
      for (int lane = 0; lane < lanes; ++lane) {
        for (int i = 0; i < S.c_elements(); ++i) {
          const Place p = c_place(S, S.d_bits, lane, i);
          const int column = S.b_column(p.row, p.column);
          DotOperands in;
          in.a = &rows[size_t(p.row * S.k)];
          in.b = &columns[size_t(column * length)];
          if constexpr (S.neighbours != 0) {
            for (int j = 0; j < S.k; ++j) multiplied[size_t(j)] = in.b[multiplied_element(S, scale_a.data(), p.row, j)];
            in.b = multiplied.data();
          }
          in.k = S.k;
          uint64_t sa[4] = {}, sb[4] = {};
          for (int s = 0; s < S.scales; ++s) {  // the providers that selector 0 names
            sa[s] = scale_a[size_t(p.row % 8 * 4 + p.row / 8)] >> (8 * s) & 0xff;
            sb[s] = scale_b[size_t(column * 4)] >> (8 * s) & 0xff;
          }
          in.scale_a = sa;
          in.scale_b = sb;
          in.c = sums[size_t(p.row * S.n + p.column)];
          set_field(&d[size_t(lane * S.d_registers())], S.d_bits, i, evaluate(in));
        }
      }
      if constexpr (S.c_bits == S.d_bits) c = d;
    }
    for (int lane = 0; lane < lanes; ++lane) store_d<S>(t, lane, &d[size_t(lane * S.d_registers())]);
  }
}

}  // namespace mmafuzz
