// The WMMA interface of CUDA C++, one warp per tile. CUDA does not specify the layout of a fragment's elements.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "gpu_bridge/kernels/mma_kernel.cuh"
#include "gpu_bridge/kernels/panel_kernel.cuh"

namespace mmafuzz {
namespace {

namespace wmma = nvcuda::wmma;

// The C++ types of each PTX type in memory and in a fragment.
struct f16 {
  using Memory = half;
  using Fragment = half;
};
struct f32 {
  using Memory = float;
  using Fragment = float;
};
struct f64 {
  using Memory = double;
  using Fragment = double;
};
struct bf16 {
  using Memory = __nv_bfloat16;
  using Fragment = __nv_bfloat16;
};
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
struct tf32 {
  using Memory = float;
  using Fragment = wmma::precision::tf32;
};
#else
struct tf32 {
  using Memory = float;
  using Fragment = float;
};  // never instantiated
#endif

template <class I>
__global__ void run_wmma_tiles(Tiles all, uint64_t count) {
  [[maybe_unused]] constexpr TileShape S = I::shape;
  if constexpr ((I::archs & this_arch) != 0) {
    using Memory = typename I::Operand::Memory;
    using Fragment = typename I::Operand::Fragment;
    using Sum = typename I::Sum::Memory;
    const uint64_t warps = uint64_t(gridDim.x) * blockDim.x / 32;
    for (uint64_t tile = (uint64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32; tile < count; tile += warps) {
      const Tiles t = tiles_from(S, all, tile);
      wmma::fragment<wmma::matrix_a, S.m, S.n, S.k, Fragment, wmma::row_major> a;
      wmma::fragment<wmma::matrix_b, S.m, S.n, S.k, Fragment, wmma::col_major> b;
      wmma::fragment<wmma::accumulator, S.m, S.n, S.k, Sum> c;
      wmma::load_matrix_sync(c, reinterpret_cast<const Sum*>(t.c), S.n, wmma::mem_row_major);
      for (int step = 0; step < t.steps; ++step) {
        wmma::load_matrix_sync(a, reinterpret_cast<const Memory*>(t.a) + step * S.m * S.k, S.k);
        wmma::load_matrix_sync(b, reinterpret_cast<const Memory*>(t.b) + step * S.n * S.k, S.k);
        wmma::mma_sync(c, a, b, c);
      }
      wmma::store_matrix_sync(reinterpret_cast<Sum*>(t.d), c, S.n, wmma::mem_row_major);
    }
  }
}

template <class I>
void launch_wmma_tiles(const Tiles& tiles, uint64_t count, const WgmmaModifiers&) {
  run_wmma_tiles<I><<<mma_grid(count), mma_block>>>(tiles, count);
}

#define ROW(m, n, k, D, A, B, C, architectures)                                                           \
  struct Wmma_##k##_##D##_##A {                                                                           \
    static constexpr TileShape shape = with_family(TileFamily::wmma, mma_shape(m, n, k, #D, #A, #B, #C)); \
    static constexpr unsigned archs = arch::architectures;                                                \
    using Operand = A;                                                                                    \
    using Sum = D;                                                                                        \
  };
MMAFUZZ_WMMA(ROW)
#undef ROW

/// One tile of WMMA in a panel: c and d go through the warp's scratch memory.
template <class I>
struct WmmaInPanel : I {
  static constexpr int scratch_bytes = I::shape.cells() * I::shape.d_bits / 8;
  template <class Word>
  __device__ static void run(const TileInPanel& input, const Word* drawn, Word* results) {
    constexpr TileShape S = I::shape;
    using Memory = typename I::Operand::Memory;
    using Fragment = typename I::Operand::Fragment;
    using Sum = typename I::Sum::Memory;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < S.c_elements(); ++i) write_element(input.scratch, S.c_bits / 8, i * 32 + input.lane, drawn[i]);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, S.m, S.n, S.k, Fragment, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, S.m, S.n, S.k, Fragment, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, S.m, S.n, S.k, Sum> c;
    wmma::load_matrix_sync(a, reinterpret_cast<const Memory*>(input.tiles.a), S.k);
    wmma::load_matrix_sync(b, reinterpret_cast<const Memory*>(input.tiles.b), S.k);
    wmma::load_matrix_sync(c, reinterpret_cast<const Sum*>(input.scratch), S.n, wmma::mem_row_major);
    wmma::mma_sync(c, a, b, c);
    __syncwarp();
    wmma::store_matrix_sync(reinterpret_cast<Sum*>(input.scratch), c, S.n, wmma::mem_row_major);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < S.c_elements(); ++i)
      results[i] = static_cast<Word>(read_element(input.scratch, S.d_bits / 8, i * 32 + input.lane));
  }
};
#define ROW(m, n, k, D, A, B, C, archs)                                           \
  struct Panels_wmma_##k##_##D##_##A : WmmaInPanel<Wmma_##k##_##D##_##A> {        \
    static constexpr sweep::InstructionTypes types = sweep::types_of(#D, #A, #B); \
  };
MMAFUZZ_WMMA(ROW)
#undef ROW

#define ROW(m, n, k, D, A, B, C, archs) launch_wmma_tiles<Wmma_##k##_##D##_##A>,
constexpr LaunchTiles launches[] = {MMAFUZZ_WMMA(ROW)};
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs) launch_panels<Panels_wmma_##k##_##D##_##A>,
constexpr LaunchPanels panels[] = {MMAFUZZ_WMMA(ROW)};
#undef ROW

}  // namespace

LaunchTable wmma_launches() { return launches; }
PanelTable wmma_panels() { return panels; }

}  // namespace mmafuzz
