// The sweep of one instruction in one kernel: a block draws a panel in shared memory, runs the instruction on its tiles
// and compares every dot in the registers that hold it. Nothing but divergences goes to memory.
#pragma once

#include "gpu_bridge/kernels/mma_kernel.cuh"
#include "gpu_bridge/kernels/narrow_shapes.def.h"
#include "gpu_bridge/kernels/sweep_kernels.h"
#include "gpu_bridge/sweep/panel.h"

namespace mmafuzz {

/// The shape of the model that an architecture's mma.sync of length k claims; k = 0: none in 32-bit registers. Of two
/// rows with the same types the later one: on sm_90 wgmma claims the fused sum of FP8, and mma.sync the emulated one.
MMAFUZZ_HD constexpr NarrowShape narrow_shape_on(unsigned on, int length, const FormatFields& x,
                                                 const FormatFields& y) {
  NarrowShape last;
#define ROW(kernel, products, block, a, b, archs)                                                               \
  if (((archs)&on) && products == length && narrow_shapes::of_type(#a) == x && narrow_shapes::of_type(#b) == y) \
    last = {Kernel::kernel, products, block, x, y};
  MMAFUZZ_NARROW(ROW)
#undef ROW
  return last;
}

template <class I>
__global__ void __launch_bounds__(256, I::shape.k > 16 ? 2 : 3)
    sweep_panels(const __grid_constant__ SweepSource s, PanelFindings found) {
  constexpr NarrowShape S = narrow_shape_on(this_arch, I::shape.k, I::a, I::b);
  if constexpr (S.k != 0) {
    constexpr TileShape shape = I::shape;
    constexpr bool half = shape.d_bits == 16;
    using Panel = sweep::Panel<S, half>;
    extern __shared__ __align__(16) uint8_t memory[];
    Panel& panel = *reinterpret_cast<Panel*>(memory);
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
    constexpr int tiles = sweep::tiles_of_panel(shape), warps = Panel::threads / 32;
    const uint64_t first = s.request.first_tile, end = first + s.request.tiles;
    panel.make_tables(s.request, thread);
    for (uint64_t number = first / tiles + blockIdx.x; number * tiles < end; number += gridDim.x) {
      MMAFUZZ_RUNS(1);
      __syncthreads();  // the last panel is done with
      panel.plan(s, number, thread);
      __syncthreads();
      panel.draw(s, thread);
      __syncthreads();
#pragma unroll 1
      for (int in_panel = thread / 32; in_panel < tiles; in_panel += warps) {
        MMAFUZZ_RUNS(tiles / warps);
        const uint64_t tile = number * tiles + static_cast<uint64_t>(in_panel);
        if (tile < first || tile >= end) continue;
        const sweep::PanelPlace place = sweep::place_of_tile(shape, static_cast<uint64_t>(in_panel));
        Tiles t;
        t.a = panel.encodings[0] + place.first_row * S.k * Panel::bytes;
        t.b = panel.encodings[1] + place.first_column * S.k * Panel::bytes;
        uint32_t a[shape.a_registers()], b[shape.b_registers()], c[shape.c_registers()], d[shape.d_registers()];
        load_a<shape>(t, 0, lane, a);
        load_b<shape>(t, 0, lane, b);
        uint32_t each[shape.c_elements()];
        for (uint32_t& word : c) word = 0;
#pragma unroll 1
        for (int i = 0; i < shape.c_elements(); ++i) {
          MMAFUZZ_RUNS(tiles / warps * shape.c_elements());
          const Place p = c_place(shape, shape.c_bits, lane, i);
          const uint32_t drawn = panel.c_of(s, shape, place.first_row + p.row, place.first_column + p.column);
#pragma unroll
          for (int at = 0; at < shape.c_elements(); ++at)
            if (at == i) each[at] = drawn;
        }
#pragma unroll
        for (int i = 0; i < shape.c_elements(); ++i) set_field(c, shape.c_bits, i, each[i]);
        I::mma(d, a, b, c, 0, 0);
#pragma unroll 1
        for (int i = 0; i < shape.c_elements(); ++i) {
          MMAFUZZ_RUNS(tiles / warps * shape.c_elements());
          const Place p = c_place(shape, shape.d_bits, lane, i);
          uint32_t addend = 0, got = 0;
#pragma unroll
          for (int at = 0; at < shape.c_elements(); ++at)
            if (at == i) {
              addend = each[at];
              got = static_cast<uint32_t>(get_field(d, shape.d_bits, at));
            }
          const uint32_t claimed =
              panel.claimed(s.request, place.first_row + p.row, place.first_column + p.column, addend);
          if (got != claimed) {
            MMAFUZZ_RUNS(0);
            const int cell = p.row * shape.n + p.column;
            *found.any = 1;
            atomicAdd(&found.cells[tile - first], 1u);
            atomicOr(&found.differs[(tile - first) * DivergentTile::words + static_cast<uint64_t>(cell / 32)],
                     1u << (cell % 32));
          }
        }
      }
    }
  }
}

template <class I>
bool launch_panels(const SweepSource& source, unsigned on, int multiprocessors, const PanelFindings& found) {
  if constexpr (I::a.width != 0 && I::b.width != 0 && I::shape.matrices == 1 && I::shape.d_bits != 64) {
    const NarrowShape claims = narrow_shape_on(on, I::shape.k, I::a, I::b);
    if (claims.k == 0 || !narrow_fits(claims, source.request.model, I::shape.k) || source.request.any_nan) return false;
    // Sizes do not depend on the kernel of the model.
    constexpr NarrowShape any{Kernel::fused_sum, I::shape.k, I::shape.k, I::a, I::b};
    constexpr size_t bytes = sizeof(sweep::Panel<any, false>);
    if (cudaFuncSetAttribute(sweep_panels<I>, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)) != cudaSuccess) {
      cudaGetLastError();
      return false;  // less shared memory than a panel takes
    }
    int resident = 1;
    if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, sweep_panels<I>, 256, bytes) != cudaSuccess ||
        resident == 0) {
      cudaGetLastError();
      return false;
    }
    constexpr uint64_t each = uint64_t(sweep::tiles_of_panel(I::shape));
    const uint64_t panels =
        (source.request.first_tile + source.request.tiles + each - 1) / each - source.request.first_tile / each;
    const uint64_t blocks = uint64_t(resident) * uint64_t(multiprocessors);
    sweep_panels<I><<<unsigned(panels < blocks ? panels : blocks), 256, bytes>>>(source, found);
    return true;
  }
  return false;
}

}  // namespace mmafuzz
