// A sweep's kernels: a thread generates one element, compares one dot or traces one dot; what it does is in sweep_step.h.
#include "gpu_bridge/kernels/sweep_kernels.h"

namespace mmafuzz {
namespace {

constexpr int block = 128;
unsigned grid_of(uint64_t threads) {
  const uint64_t blocks = (threads + block - 1) / block;
  return static_cast<unsigned>(blocks < 1u << 20 ? blocks : 1u << 20);
}
__device__ uint64_t thread_number() { return uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ uint64_t thread_count() { return uint64_t(gridDim.x) * blockDim.x; }

__global__ void __launch_bounds__(block) generate_operands(const __grid_constant__ SweepSource s, Tiles all, int a_elements, int b_elements) {
  const uint64_t per_tile = static_cast<uint64_t>(a_elements + b_elements);
  for (uint64_t i = thread_number(); i < s.request.tiles * per_tile; i += thread_count()) {
    const uint64_t tile = s.request.first_tile + i / per_tile;
    const int e = static_cast<int>(i % per_tile);
    sweep::generate_element(s, all, tile, e < a_elements, e < a_elements ? e : e - a_elements);
  }
}

__global__ void __launch_bounds__(block) generate_scales(const __grid_constant__ SweepSource s, Tiles all, int a_scales, int b_scales) {
  const uint64_t per_tile = static_cast<uint64_t>(a_scales + b_scales);
  for (uint64_t i = thread_number(); i < s.request.tiles * per_tile; i += thread_count()) {
    const int e = static_cast<int>(i % per_tile);
    sweep::generate_scale(s, all, s.request.first_tile + i / per_tile, e < a_scales, e < a_scales ? e : e - a_scales);
  }
}

__global__ void __launch_bounds__(block) generate_sums(const __grid_constant__ SweepSource s, Tiles all, int cells) {
  for (uint64_t i = thread_number(); i < s.request.tiles * uint64_t(cells); i += thread_count())
    sweep::generate_c(s, all, s.request.first_tile + i / uint64_t(cells), static_cast<int>(i % uint64_t(cells)));
}

__global__ void __launch_bounds__(block) compare_dots(const __grid_constant__ SweepSource s, Tiles all, int cells, uint32_t* found, uint32_t* first_cell) {
  const int bytes = s.request.shape.d_bits / 8;
  for (uint64_t i = thread_number(); i < s.request.tiles * uint64_t(cells); i += thread_count()) {
    const uint64_t in_epoch = i / uint64_t(cells);
    const int cell = static_cast<int>(i % uint64_t(cells));
    const sweep::Cell operands(s.request, all, s.request.first_tile + in_epoch, cell);
    if (read_element(tiles_from(s.request.shape, all, in_epoch).d, bytes, cell) == sweep::claimed_result(s.request.model, operands.in)) continue;
    atomicAdd(&found[in_epoch], 1u);
    atomicMin(&first_cell[in_epoch], static_cast<uint32_t>(cell));
  }
}

struct FirstOfBin {
  unsigned long long* first;
  unsigned long long number;
  __device__ void hit(int bin) {
    if (first[bin] > number) atomicMin(&first[bin], number);
  }
  __device__ void impossible(const char*) {}
};

__global__ void __launch_bounds__(block) trace_dots(const __grid_constant__ SweepSource s, Tiles all, int cells, uint64_t* first_of_bin) {
  const uint64_t every = s.request.trace_every, first = (s.request.first_tile + every - 1) / every * every;
  const uint64_t end = s.request.first_tile + s.request.tiles, traced = first < end ? (end - first + every - 1) / every : 0;
  for (uint64_t i = thread_number(); i < traced * uint64_t(cells); i += thread_count()) {
    const uint64_t tile = first + i / uint64_t(cells) * every;
    const int cell = static_cast<int>(i % uint64_t(cells));
    const sweep::Cell operands(s.request, all, tile, cell);
    FirstOfBin sink{reinterpret_cast<unsigned long long*>(first_of_bin), tile * uint64_t(cells) + uint64_t(cell)};
    sweep::trace_cell(s.request.model, operands.in, sink);
  }
}

}  // namespace

void launch_generation(const SweepSource& source, const Tiles& tiles) {
  const TileShape& s = source.request.shape;
  const uint64_t n = source.request.tiles;
  generate_operands<<<grid_of(n * uint64_t((s.rows() + s.columns()) * s.k)), block>>>(source, tiles, s.rows() * s.k, s.columns() * s.k);
  if (s.scales) generate_scales<<<grid_of(n * uint64_t((s.rows() + s.columns()) * s.scales)), block>>>(source, tiles, s.rows() * s.scales, s.columns() * s.scales);
  generate_sums<<<grid_of(n * uint64_t(s.cells())), block>>>(source, tiles, s.cells());
}

void launch_comparison(const SweepSource& source, const Tiles& tiles, uint32_t* cells, uint32_t* first_cell) {
  const int per_tile = source.request.shape.cells();
  compare_dots<<<grid_of(source.request.tiles * uint64_t(per_tile)), block>>>(source, tiles, per_tile, cells, first_cell);
}

void launch_tracing(const SweepSource& source, const Tiles& tiles, uint64_t* first_of_bin) {
  const int per_tile = source.request.shape.cells();
  const uint64_t dots = (source.request.tiles / source.request.trace_every + 1) * uint64_t(per_tile);
  trace_dots<<<grid_of(dots), block>>>(source, tiles, per_tile, first_of_bin);
}

}  // namespace mmafuzz
