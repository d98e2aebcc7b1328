// wgmma of Hopper: four warps per tile, b in shared memory, a in registers or in shared memory. The modifiers are
// scale-d, the negations, where a lies, and the transpositions.
#include "gpu_bridge/kernels/mma_kernel.cuh"
#include "gpu_bridge/kernels/panel_kernel.cuh"
#include "gpu_bridge/kernels/wgmma_operands.cuh"

namespace mmafuzz {
namespace {

/// Matrix descriptor of an operand: start address, leading and stride offset in units of 16 bytes, no swizzle (PTX ISA,
/// "Matrix descriptor format").
__device__ uint64_t descriptor_of(const SharedOperand& operand, const uint8_t* shared) {
  const uint64_t address = static_cast<uint64_t>(__cvta_generic_to_shared(shared));
  return (address & 0x3ffff) >> 4 | static_cast<uint64_t>(operand.along_k()) >> 4 << 16 |
         static_cast<uint64_t>(operand.along_vectors()) >> 4 << 32;
}

/// Keeps the compiler from moving reads and writes of these registers, which an asynchronous instruction uses, across
/// this call.
template <int N>
__device__ void pin_registers(uint32_t (&registers)[N]) {
#pragma unroll
  for (int r = 0; r < N; ++r) asm volatile("" : "+r"(registers[r])::"memory");
}

/// The modifiers that decide the instruction's operands or immediates, as constants.
struct WgmmaForm {
  bool negate_a, negate_b, shared_a, transpose_a, transpose_b;
};

/// Calls f(std::true_type) or f(std::false_type) by `flag`; where may_be_set is false, only the latter is compiled.
template <bool may_be_set, class F>
__device__ void as_constant(bool flag, const F& f) {
  if constexpr (may_be_set) {
    if (flag) return f(std::true_type{});
  }
  f(std::false_type{});
}

/// One step, d += a * b (in step 0 without scale_d: d = a * b), by all lanes of a team together. `shared` is the team's
/// memory: b, then a. `meet()` is the team's barrier.
template <class I, class Meet>
__device__ void wgmma_step(uint32_t (&d)[I::shape.d_registers()], const Tiles& t, int step, int lane, uint8_t* shared,
                           const WgmmaModifiers& modifiers, const Meet& meet) {
  constexpr TileShape S = I::shape;
  uint8_t* shared_a = shared + S.columns() * S.b_length() * S.operand_bytes();
  uint32_t a[S.a_registers()];
  load_a<S>(t, step, lane, a);
  meet();  // the last instruction has read shared memory
  share_operand<S>(t, step, lane, /*is_a=*/false, modifiers.transpose_b, shared);
  if (modifiers.shared_a) share_operand<S>(t, step, lane, /*is_a=*/true, modifiers.transpose_a, shared_a);
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // wgmma reads through the asynchronous proxy
  meet();
  const uint64_t descriptor_a = descriptor_of(shared_operand(S, /*is_a=*/true, modifiers.transpose_a), shared_a),
                 descriptor_b = descriptor_of(shared_operand(S, /*is_a=*/false, modifiers.transpose_b), shared);
  const int scale_d = step == 0 ? modifiers.scale_d : 1;
  const uint32_t metadata = load_scale_a<S>(t, step, lane);
  pin_registers(a);
  pin_registers(d);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  constexpr bool negates = !I::types.a.integer, transposes = S.operand_bits == 16;
  as_constant<negates>(modifiers.negate_a, [&](auto negate_a) {
    as_constant<negates>(modifiers.negate_b, [&](auto negate_b) {
      as_constant<transposes>(modifiers.transpose_b, [&](auto transpose_b) {
        as_constant<true>(modifiers.shared_a, [&](auto in_shared) {
          as_constant<transposes && in_shared.value>(modifiers.transpose_a, [&](auto transpose_a) {
            constexpr WgmmaForm form{negate_a.value, negate_b.value, in_shared.value, transpose_a.value,
                                     transpose_b.value};
            I::template mma<form>(d, a, descriptor_a, descriptor_b, scale_d, metadata);
          });
        });
      });
    });
  });
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  pin_registers(d);
#endif
}

template <class I>
inline constexpr int wgmma_shared_bytes =
    (I::shape.columns() * I::shape.b_length() + I::shape.rows() * I::shape.k) * I::shape.operand_bytes();

template <class I>
__global__ void __launch_bounds__(128) run_wgmma_tiles(Tiles all, uint64_t count, WgmmaModifiers modifiers) {
  constexpr TileShape S = I::shape;
  __shared__ __align__(128) uint8_t shared[wgmma_shared_bytes<I>];
  const int lane = static_cast<int>(threadIdx.x);
  for (uint64_t tile = blockIdx.x; tile < count; tile += gridDim.x) {
    const Tiles t = tiles_from(S, all, tile);
    uint32_t d[S.d_registers()];
    load_c<S>(t, lane, d);
    for (int step = 0; step < t.steps; ++step)
      wgmma_step<I>(d, t, step, lane, shared, modifiers, [] { __syncthreads(); });
    store_d<S>(t, lane, d);
  }
}

/// One tile of wgmma in a panel.
template <class I>
struct WgmmaInPanel : I {
  static constexpr int scratch_bytes = wgmma_shared_bytes<I>;
  template <class Word>
  __device__ static void run(const TileInPanel& input, const Word* drawn, Word* results) {
    constexpr TileShape S = I::shape;
    uint32_t d[S.d_registers()];
    for (uint32_t& word : d) word = 0;
#pragma unroll
    for (int i = 0; i < S.c_elements(); ++i) set_field(d, S.c_bits, i, drawn[i]);
    // Each team has a barrier of its own; number 0 is that of __syncthreads().
    wgmma_step<I>(d, input.tiles, 0, input.lane, input.scratch, input.modifiers, [&] {
      asm volatile("bar.sync %0, 128;" ::"r"(1 + input.team) : "memory");
    });
#pragma unroll
    for (int i = 0; i < S.c_elements(); ++i) results[i] = static_cast<Word>(get_field(d, S.d_bits, i));
  }
};

#define MMAFUZZ_WGMMA_TYPE(ID, SHAPE, D, A, B, ARCHS, ASM)                                                   \
  struct ID {                                                                                                \
    static constexpr TileShape shape = SHAPE;                                                                \
    static constexpr sweep::InstructionTypes types = sweep::types_of(#D, #A, #B);                            \
    static constexpr unsigned archs = arch::ARCHS;                                                           \
    template <WgmmaForm F>                                                                                   \
    __device__ static void mma(uint32_t (&d)[shape.d_registers()], const uint32_t* a, uint64_t descriptor_a, \
                               uint64_t descriptor_b, int scale_d, uint32_t metadata) {                      \
      ASM                                                                                                    \
    }                                                                                                        \
  };                                                                                                         \
  struct Panels_##ID : WgmmaInPanel<ID> {};

#define ROW(m, n, k, D, A, B, C, archs)                                                                                \
  MMAFUZZ_WGMMA_TYPE(                                                                                                  \
      wgmma_##n##_##D##_##A##_##B, with_family(TileFamily::wgmma, mma_shape(m, n, k, #D, #A, #B, #C)), D, A, B, archs, \
      MMAFUZZ_WGMMA_ASM("wgmma.mma_async.sync.aligned.m" #m "n" #n "k" #k "." #D "." #A "." #B, MMAFUZZ_WGMMA_DENSE))
MMAFUZZ_WGMMA(ROW)
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs)                                                                                \
  MMAFUZZ_WGMMA_TYPE(wgmma_sp_##n##_##D##_##A##_##B,                                                                   \
                     sparse_shape(with_family(TileFamily::wgmma, mma_shape(m, n, k, #D, #A, #B, #C))), D, A, B, archs, \
                     MMAFUZZ_WGMMA_ASM("wgmma.mma_async.sp.sync.aligned.m" #m "n" #n "k" #k "." #D "." #A "." #B,      \
                                       MMAFUZZ_WGMMA_SPARSE_A))
MMAFUZZ_WGMMA_SPARSE(ROW)
#undef ROW

template <class I>
void launch_wgmma_tiles(const Tiles& tiles, uint64_t count, const WgmmaModifiers& modifiers) {
  run_wgmma_tiles<I><<<static_cast<unsigned>(count < 65536 ? count : 65536), 128>>>(tiles, count, modifiers);
}

#define ROW(m, n, k, D, A, B, C, archs) launch_wgmma_tiles<wgmma_##n##_##D##_##A##_##B>,
#define SPARSE(m, n, k, D, A, B, C, archs) launch_wgmma_tiles<wgmma_sp_##n##_##D##_##A##_##B>,
constexpr LaunchTiles launches[] = {MMAFUZZ_WGMMA(ROW) MMAFUZZ_WGMMA_SPARSE(SPARSE)};
#undef ROW
#undef SPARSE
#define ROW(m, n, k, D, A, B, C, archs) launch_panels<Panels_wgmma_##n##_##D##_##A##_##B>,
#define SPARSE(m, n, k, D, A, B, C, archs) launch_panels<Panels_wgmma_sp_##n##_##D##_##A##_##B>,
constexpr LaunchPanels panels[] = {MMAFUZZ_WGMMA(ROW) MMAFUZZ_WGMMA_SPARSE(SPARSE)};
#undef ROW
#undef SPARSE

}  // namespace

LaunchTable wgmma_launches() { return launches; }
PanelTable wgmma_panels() { return panels; }

}  // namespace mmafuzz
