// Draws the operands of a sweep's tiles, one thread for each row, column or c; and compares integer dots.
#include "gpu_bridge/kernels/sweep_model.cuh"

namespace mmafuzz {
namespace {

__global__ void __launch_bounds__(sweep_block)
    generate_vectors(const __grid_constant__ SweepSource s, Tiles all, int rows, int columns) {
  const uint64_t per_tile = static_cast<uint64_t>(rows + columns);
  for (uint64_t i = thread_number(); i < s.request.tiles * per_tile; i += thread_count()) {
    const int vector = static_cast<int>(i % per_tile);
    const bool is_a = vector < rows;
    sweep::generate_vector(s, all, s.request.first_tile + i / per_tile, is_a, is_a ? vector : vector - rows);
  }
}

__global__ void __launch_bounds__(sweep_block)
    generate_addends(const __grid_constant__ SweepSource s, Tiles all, int cells) {
  for (uint64_t i = thread_number(); i < s.request.tiles * uint64_t(cells); i += thread_count())
    sweep::generate_c(s, all, s.request.first_tile + i / uint64_t(cells), static_cast<int>(i % uint64_t(cells)));
}

struct IntegerSum {
  __device__ static uint64_t result(const SweepRequest& r, const Tiles& all, uint64_t tile, int cell) {
    const sweep::Cell operands(r, all, tile, cell);
    return sweep::integer_sum(operands.in);
  }
};

}  // namespace

void launch_generation(const SweepSource& source, const Tiles& tiles) {
  const TileShape& s = source.request.shape;
  const uint64_t n = source.request.tiles;
  generate_vectors<<<sweep_grid(n * uint64_t(s.rows() + s.columns())), sweep_block>>>(source, tiles, s.rows(),
                                                                                      s.columns());
  generate_addends<<<sweep_grid(n * uint64_t(s.cells())), sweep_block>>>(source, tiles, s.cells());
}

ModelKernels integer_kernels() { return {launch_comparison<IntegerSum>, nullptr}; }

}  // namespace mmafuzz
