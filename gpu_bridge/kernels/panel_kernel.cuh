// The sweep of one instruction in one CUDA kernel: a block of threads draws a panel in shared memory, runs the
// instruction on its tiles and compares every dot in the registers that hold it. Only divergences are written to device
// memory. An instruction `I` has shape, types, archs, scratch_bytes (shared memory of a team) and run(), which computes
// d from c for one tile. A team is the lanes that run a tile: a warp, for wgmma four.
#pragma once

#include "gpu_bridge/kernels/sweep_kernels.h"
#include "gpu_bridge/kernels/this_arch.cuh"
#include "gpu_bridge/sweep/instruction_claims.h"
#include "gpu_bridge/sweep/panel.h"

namespace mmafuzz {

/// The cell of element i of a lane's c or d. WMMA's fragments have no known layout: elements have the order of memory.
template <TileShape S>
__device__ Place panel_cell(int bits, int lane, int i) {
  if constexpr (S.family == TileFamily::wmma) return {(i * 32 + lane) / S.n, (i * 32 + lane) % S.n};
  else return c_place(S, bits, lane, i);
}

/// The argument of run(): the tile's operands in shared memory, the numbers of the lane in its team and of the team in
/// its block (from 0), the team's scratch memory, and the modifiers.
struct TileInPanel {
  Tiles tiles;
  int lane, team;
  uint8_t* scratch;
  WgmmaModifiers modifiers;
};

/// Bytes of scratch memory of a team, rounded up to keep teams aligned.
template <class I>
inline constexpr int team_scratch = (I::scratch_bytes + 127) / 128 * 128;

template <class I>
__global__ void __launch_bounds__(sweep::panel_threads(I::shape),
                                  I::shape.k > 16 || I::shape.operand_bits == 64 ? 2 : 3)
    sweep_panels(const __grid_constant__ SweepSource s, PanelFindings found) {
  constexpr TileShape shape = I::shape;
  constexpr NarrowShape narrow = sweep::narrow_shape_on(this_arch, shape, I::types);
  constexpr bool claims = sweep::claim_kind(shape, I::types) != sweep::ClaimKind::fused || narrow.k != 0;
  if constexpr (claims && (I::archs & this_arch) != 0) {
    using Panel = sweep::Panel<sweep::ClaimOf<I, narrow>, sweep::panel_columns(shape), sweep::panel_threads(shape)>;
    using Word = typename Panel::Word;
    extern __shared__ __align__(128) uint8_t memory[];
    Panel& panel = *reinterpret_cast<Panel*>(memory);
    constexpr int teams = Panel::threads / shape.lanes(), elements = shape.c_elements();
    const int thread = static_cast<int>(threadIdx.x), lane = thread % shape.lanes(), team = thread / shape.lanes();
    constexpr int tiles = sweep::tiles_of_panel(shape);
    constexpr bool few = elements <= 8;  // few elements stay in registers; more are indexed in local memory
    const uint64_t first = s.request.first_tile, end = first + s.request.tiles;
    panel.make_tables(s.request, thread);
    const sweep::PanelsOfBlock panels = sweep::panels_of_block(s.request, blockIdx.x);
    for (uint64_t number = panels.first; number < panels.end; number += gridDim.x) {
      __syncthreads();  // every thread has finished the last panel
      panel.plan(s, number, thread);
      __syncthreads();
      panel.draw(s, thread);
      __syncthreads();
#pragma unroll 1
      for (int in_panel = team; in_panel < tiles; in_panel += teams) {
        const uint64_t tile = number * tiles + static_cast<uint64_t>(in_panel);
        if (tile < first || tile >= end) continue;
        const sweep::PanelPlace place = sweep::place_of_tile(shape, static_cast<uint64_t>(in_panel));
        TileInPanel input{{}, lane, team, memory + sizeof(Panel) + team * team_scratch<I>, s.request.modifiers};
        input.tiles.a = panel.row_encodings(place.first_row);
        input.tiles.b = panel.column_encodings(place.first_column);
        input.tiles.scale_a = panel.row_scales(place.first_row);
        input.tiles.scale_b = panel.column_scales(place.first_column);
        input.tiles.number = tile;
        Word c[elements], d[elements];
#pragma unroll 1
        for (int i = 0; i < elements; ++i) {
          const Place p = panel_cell<shape>(shape.c_bits, lane, i);
          const Word drawn = panel.c_of(s, place.first_row + p.row, place.first_column + p.column);
#pragma unroll
          for (int e = 0; few && e < elements; ++e)
            if (e == i) c[e] = drawn;
          if constexpr (!few) c[i] = drawn;
        }
        I::run(input, c, d);
#pragma unroll 1
        for (int i = 0; i < elements; ++i) {
          const Place p = panel_cell<shape>(shape.d_bits, lane, i);
          Word addend = 0, got = 0;
#pragma unroll
          for (int e = 0; few && e < elements; ++e)
            if (e == i) {
              addend = c[e];
              got = d[e];
            }
          if constexpr (!few) {
            addend = c[i];
            got = d[i];
          }
          const Word claimed = panel.claimed(s.request, place.first_row + p.row, place.first_column + p.column, addend);
          if (got != claimed) {
            if (sweep::is_as_claimed(s.request, got, claimed)) continue;  // another NaN
            const int cell = p.row * shape.n + p.column;
            *found.any = 1;
            atomicAdd(&found.cells[tile - first], 1u);
            atomicOr(&found.differs[(tile - first) * DivergentTile::words_of(shape) + static_cast<uint64_t>(cell / 32)],
                     1u << (cell % 32));
          }
        }
      }
    }
  }
}

/// A LaunchPanels (sweep_kernels.h) for one instruction.
template <class I>
bool launch_panels(const SweepSource& source, unsigned device_arch, int multiprocessors, const PanelFindings& found) {
  if constexpr (I::shape.matrices == 1) {
    if ((I::archs & device_arch) == 0 || !sweep::claim_fits(device_arch, I::shape, I::types, source.request.model))
      return false;
    // The size of a panel does not depend on the kernel of the model.
    constexpr NarrowShape any{{}, I::shape.k, I::shape.k, I::types.a, I::types.b, I::types.scale};
    constexpr int threads = sweep::panel_threads(I::shape);
    constexpr size_t bytes = sizeof(sweep::Panel<sweep::ClaimOf<I, any>, sweep::panel_columns(I::shape), threads>) +
                             size_t(threads / I::shape.lanes() * team_scratch<I>);
    if (cudaFuncSetAttribute(sweep_panels<I>, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)) != cudaSuccess) {
      cudaGetLastError();
      return false;  // less shared memory than a panel takes
    }
    int resident = 1;
    if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, sweep_panels<I>, threads, bytes) != cudaSuccess ||
        resident == 0) {
      cudaGetLastError();
      return false;
    }
    const sweep::PanelsOfBlock all = sweep::panels_of_block(source.request, 0);
    const uint64_t panels = all.end - all.first;
    const uint64_t blocks = uint64_t(resident) * uint64_t(multiprocessors);
    sweep_panels<I><<<unsigned(panels < blocks ? panels : blocks), threads, bytes>>>(source, found);
    return true;
  }
  return false;
}

/// mma.sync in a panel: loads fragments from shared memory, packs c, runs the instruction, and unpacks d to one element
/// in each word.
template <class I>
struct MmaInPanel : I {
  static constexpr int scratch_bytes = 0;
  template <class Word>
  __device__ static void run(const TileInPanel& input, const Word* drawn, Word* results) {
    constexpr TileShape S = I::shape;
    uint32_t a[S.a_registers()], b[S.b_registers()], c[S.c_registers()], d[S.d_registers()];
    load_a<S>(input.tiles, 0, input.lane, a);
    load_b<S>(input.tiles, 0, input.lane, b);
    for (uint32_t& word : c) word = 0;
#pragma unroll
    for (int i = 0; i < S.c_elements(); ++i) set_field(c, S.c_bits, i, drawn[i]);
    I::mma(d, a, b, c, load_scale_a<S>(input.tiles, 0, input.lane), load_scale_b<S>(input.tiles, 0, input.lane));
#pragma unroll
    for (int i = 0; i < S.c_elements(); ++i) results[i] = static_cast<Word>(get_field(d, S.d_bits, i));
  }
};

/// A type ID with the members that launch_panels needs, from an MMAFUZZ_INSTRUCTION type.
#define MMAFUZZ_MMA_PANELS(ID, INSTRUCTION, TYPES)          \
  struct ID : MmaInPanel<INSTRUCTION> {                     \
    static constexpr sweep::InstructionTypes types = TYPES; \
  };

}  // namespace mmafuzz
