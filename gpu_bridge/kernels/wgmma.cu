// wgmma of Hopper, n = 8: four warps per tile, a in registers, b in shared memory. scale-d and the negation immediates
// are modifiers.
#include "gpu_bridge/kernels/mma_kernel.cuh"
#include "gpu_bridge/kernels/panel_kernel.cuh"

namespace mmafuzz {
namespace {

/// Matrix descriptor of b: start address, LBO and SBO in units of 16 bytes, no swizzle (PTX ISA, "Matrix descriptor
/// format").
template <TileShape S>
__device__ uint64_t descriptor_of_b(const uint8_t* shared) {
  const uint64_t address = static_cast<uint64_t>(__cvta_generic_to_shared(shared));
  constexpr uint64_t along_k = core_matrix_bytes, along_columns = core_matrix_bytes * (S.k * S.operand_bytes() / 16);
  return (address & 0x3ffff) >> 4 | along_k >> 4 << 16 | along_columns >> 4 << 32;
}

/// Keeps reads and writes of registers that an asynchronous instruction uses on their side of this line.
template <int N>
__device__ void pin_registers(uint32_t (&registers)[N]) {
#pragma unroll
  for (int r = 0; r < N; ++r) asm volatile("" : "+r"(registers[r])::"memory");
}

/// One instruction, d += a * b; b in `shared` as share_b writes it. The team's lanes call it together, and have met
/// since they wrote.
template <class I, int NegateA, int NegateB>
__device__ void run_wgmma(uint32_t (&d)[I::shape.d_registers()], uint32_t (&a)[I::shape.a_registers()],
                          const uint8_t* shared, int scale_d) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  pin_registers(a);
  pin_registers(d);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  I::template mma<NegateA, NegateB>(d, a, descriptor_of_b<I::shape>(shared), scale_d);
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  pin_registers(d);
#endif
}
/// Between writing shared memory and the instruction that reads it through the asynchronous proxy.
__device__ void fence_shared_writes() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

template <class I, int NegateA, int NegateB>
__global__ void __launch_bounds__(128) run_wgmma_tiles(Tiles all, uint64_t count, int scale_d) {
  constexpr TileShape S = I::shape;
  __shared__ __align__(128) uint8_t shared[S.columns() * S.k * S.operand_bytes()];
  const int lane = static_cast<int>(threadIdx.x);
  for (uint64_t tile = blockIdx.x; tile < count; tile += gridDim.x) {
    const Tiles t = tiles_from(S, all, tile);
    uint32_t a[S.a_registers()], d[S.d_registers()];
    load_c<S>(t, lane, d);
    for (int step = 0; step < t.steps; ++step) {
      load_a<S>(t, step, lane, a);
      __syncthreads();  // the last instruction has read b
      share_b<S>(t, step, lane, shared);
      fence_shared_writes();
      __syncthreads();
      run_wgmma<I, NegateA, NegateB>(d, a, shared, step == 0 ? scale_d : 1);
    }
    store_d<S>(t, lane, d);
  }
}

/// The same in a panel; the negations are immediate operands, so each choice is an instruction of its own.
template <class I>
struct WgmmaInPanel : I {
  static constexpr int scratch_bytes = I::shape.columns() * I::shape.k * I::shape.operand_bytes();
  template <class Word>
  __device__ static void run(const TileInPanel& at, const Word* from, Word* to) {
    constexpr TileShape S = I::shape;
    uint32_t a[S.a_registers()], d[S.d_registers()];
    for (uint32_t& word : d) word = 0;
#pragma unroll
    for (int i = 0; i < S.c_elements(); ++i) set_field(d, S.c_bits, i, from[i]);
    load_a<S>(at.tiles, 0, at.lane, a);
    meet(at.team);  // the last instruction has read b
    share_b<S>(at.tiles, 0, at.lane, at.scratch);
    fence_shared_writes();
    meet(at.team);
    const int scale_d = at.modifiers.scale_d;
    if (at.modifiers.negate_a) {
      if (at.modifiers.negate_b) run_wgmma<I, 1, 1>(d, a, at.scratch, scale_d);
      else run_wgmma<I, 1, 0>(d, a, at.scratch, scale_d);
    } else {
      if (at.modifiers.negate_b) run_wgmma<I, 0, 1>(d, a, at.scratch, scale_d);
      else run_wgmma<I, 0, 0>(d, a, at.scratch, scale_d);
    }
#pragma unroll
    for (int i = 0; i < S.c_elements(); ++i) to[i] = static_cast<Word>(get_field(d, S.d_bits, i));
  }
  /// The four warps of a team.
  __device__ static void meet(int team) { asm volatile("bar.sync %0, 128;" ::"r"(1 + team) : "memory"); }
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define WGMMA_BODY(NAME, TRANSPOSE)                                                                                   \
  if constexpr (shape.d_registers() == 4)                                                                             \
    asm volatile("{.reg .pred p;\nsetp.ne.b32 p, %9, 0;\n" NAME " {%0,%1,%2,%3},{%4,%5,%6,%7},%8,p,%10,%11" TRANSPOSE \
                 ";}"                                                                                                 \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                                     \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(NegateA ? -1 : 1),           \
                   "n"(NegateB ? -1 : 1));                                                                            \
  else                                                                                                                \
    asm volatile("{.reg .pred p;\nsetp.ne.b32 p, %7, 0;\n" NAME " {%0,%1},{%2,%3,%4,%5},%6,p,%8,%9" TRANSPOSE ";}"    \
                 : "+r"(d[0]), "+r"(d[1])                                                                             \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(NegateA ? -1 : 1),           \
                   "n"(NegateB ? -1 : 1));
#else
#define WGMMA_BODY(NAME, TRANSPOSE)
#endif

#define ROW(m, n, k, D, A, B, C, ARCHS)                                                                  \
  struct Wgmma_##k##_##D##_##A##_##B {                                                                   \
    static constexpr TileShape shape = of_family(TileFamily::wgmma, mma_shape(m, n, k, #D, #A, #B, #C)); \
    static constexpr unsigned archs = arch::ARCHS;                                                       \
    template <int NegateA, int NegateB>                                                                  \
    __device__ static void mma(uint32_t* d, const uint32_t* a, uint64_t b, int scale_d) {                \
      if constexpr (shape.operand_bits == 16) {                                                          \
        WGMMA_BODY("wgmma.mma_async.sync.aligned.m" #m "n" #n "k" #k "." #D "." #A "." #B, ",0")         \
      } else {                                                                                           \
        WGMMA_BODY("wgmma.mma_async.sync.aligned.m" #m "n" #n "k" #k "." #D "." #A "." #B, "")           \
      }                                                                                                  \
    }                                                                                                    \
  };
MMAFUZZ_WGMMA(ROW)
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs)                                                   \
  struct Panels_wgmma_##k##_##D##_##A##_##B : WgmmaInPanel<Wgmma_##k##_##D##_##A##_##B> { \
    static constexpr sweep::InstructionTypes types = sweep::types_of(#D, #A, #B);         \
  };
MMAFUZZ_WGMMA(ROW)
#undef ROW

template <class I>
void launch_wgmma_tiles(const Tiles& tiles, uint64_t count, const WgmmaModifiers& with) {
  const unsigned grid = static_cast<unsigned>(count < 65536 ? count : 65536);
  const auto kernel = with.negate_a ? (with.negate_b ? run_wgmma_tiles<I, 1, 1> : run_wgmma_tiles<I, 1, 0>)
                                    : (with.negate_b ? run_wgmma_tiles<I, 0, 1> : run_wgmma_tiles<I, 0, 0>);
  kernel<<<grid, 128>>>(tiles, count, with.scale_d);
}

#define ROW(m, n, k, D, A, B, C, archs) launch_wgmma_tiles<Wgmma_##k##_##D##_##A##_##B>,
constexpr LaunchTiles launches[] = {MMAFUZZ_WGMMA(ROW)};
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs) launch_panels<Panels_wgmma_##k##_##D##_##A##_##B>,
constexpr LaunchPanels panels[] = {MMAFUZZ_WGMMA(ROW)};
#undef ROW

}  // namespace

LaunchTable wgmma_launches() { return {launches, sizeof launches / sizeof *launches}; }
PanelTable wgmma_panels() { return {panels, sizeof panels / sizeof *panels}; }

}  // namespace mmafuzz
