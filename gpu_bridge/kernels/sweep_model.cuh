// CUDA kernels that compare and trace, as templates over the claimed result; a thread handles one dot at a time.
#pragma once

#include "gpu_bridge/kernels/sweep_kernels.h"
#include "gpu_bridge/kernels/this_arch.cuh"

namespace mmafuzz {

inline constexpr int sweep_block = 128;
inline unsigned sweep_grid(uint64_t threads) { return blocks_for(threads, sweep_block, 1u << 20); }
__device__ inline uint64_t thread_number() { return uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline uint64_t thread_count() { return uint64_t(gridDim.x) * blockDim.x; }

/// Claim::result(request, tiles, tile, cell) returns the model's result; `tile` is the tile's number in the sweep.
template <class Claim>
__global__ void __launch_bounds__(sweep_block)
    compare_dots(const __grid_constant__ SweepSource s, Tiles all, int cell_bits, uint32_t* cells, uint32_t* differs,
                 uint32_t* any) {
  const int bytes = s.request.shape.d_bits / 8;
  for (uint64_t i = thread_number(); i < s.request.tiles << cell_bits; i += thread_count()) {
    const uint64_t in_epoch = i >> cell_bits;
    const int cell = static_cast<int>(i & low_mask(cell_bits));
    const uint64_t claimed = Claim::result(s.request, all, s.request.first_tile + in_epoch, cell);
    if (sweep::is_as_claimed(s.request, read_element(tiles_from(s.request.shape, all, in_epoch).d, bytes, cell),
                             claimed))
      continue;
    *any = 1;
    atomicAdd(&cells[in_epoch], 1u);
    atomicOr(&differs[in_epoch * DivergentTile::words_of(s.request.shape) + static_cast<uint64_t>(cell / 32)],
             1u << (cell % 32));
  }
}

template <class Claim>
void launch_comparison(const SweepSource& source, const Tiles& tiles, uint32_t* cells, uint32_t* differs,
                       uint32_t* any) {
  const int cell_bits =
      bit_length(static_cast<uint64_t>(source.request.shape.cells())) - 1;  // cells are a power of two
  compare_dots<Claim>
      <<<sweep_grid(source.request.tiles << cell_bits), sweep_block>>>(source, tiles, cell_bits, cells, differs, any);
}

/// The sink of a trace: lowers the entry of each bin that the dot with this number reaches.
struct FirstOfBin {
  unsigned long long* first;
  unsigned long long number;
  __device__ void hit(int bin) {
    if (first[bin] > number) atomicMin(&first[bin], number);
  }
  __device__ void impossible(const char*) { hit(bins::count); }
};

/// The model with its kernel as a constant, so that the code of the other kernels is not compiled.
template <Kernel kernel>
MMAFUZZ_HD DotModel with_kernel(DotModel m) {
  m.kernel = kernel;
  return m;
}

template <Kernel kernel>
struct KernelClaim {
  __device__ static uint64_t result(const SweepRequest& r, const Tiles& all, uint64_t tile, int cell) {
    const sweep::Cell operands(r, all, tile, cell);
    return evaluate_dot(with_kernel<kernel>(r.model), operands.in);
  }
};

template <Kernel kernel>
__global__ void __launch_bounds__(sweep_block)
    trace_dots(const __grid_constant__ SweepSource s, Tiles all, int cells, uint64_t* first_of_bin) {
  const DotModel m = with_kernel<kernel>(s.request.model);
  for (uint64_t i = thread_number(); i < s.request.tiles * uint64_t(cells); i += thread_count()) {
    const uint64_t tile = s.request.first_tile + i / uint64_t(cells);
    const int cell = static_cast<int>(i % uint64_t(cells));
    const sweep::Cell operands(s.request, all, tile, cell);
    FirstOfBin sink{reinterpret_cast<unsigned long long*>(first_of_bin), tile * uint64_t(cells) + uint64_t(cell)};
    sweep::trace_cell(m, operands.in, sink);
  }
}

template <Kernel kernel>
void launch_tracing(const SweepSource& source, const Tiles& tiles, uint64_t* first_of_bin) {
  const int per_tile = source.request.shape.cells();
  const uint64_t dots = source.request.tiles * uint64_t(per_tile);
  trace_dots<kernel><<<sweep_grid(dots), sweep_block>>>(source, tiles, per_tile, first_of_bin);
}

/// Defines the kernels of sweep_kernels.h for the models of one kernel.
#define MMAFUZZ_SWEPT_BY(name)                                                           \
  mmafuzz::ModelKernels mmafuzz::name##_kernels() {                                      \
    return {launch_comparison<KernelClaim<Kernel::name>>, launch_tracing<Kernel::name>}; \
  }

}  // namespace mmafuzz
