// The CUDA kernel of all mma.sync instructions, one warp per tile, and the macros that make a type of a row. Operands
// are .b32 (or .b64) registers whatever the PTX type; an instruction is assembled only for architectures that have it.
#pragma once

#include "gpu_bridge/instructions/instruction_shapes.h"
#include "gpu_bridge/tiles/launch.h"
#include "gpu_bridge/kernels/this_arch.cuh"

namespace mmafuzz {

template <class I>
__global__ void run_mma_tiles(Tiles all, uint64_t count) {
  constexpr TileShape S = I::shape;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const uint64_t warps = uint64_t(gridDim.x) * blockDim.x / 32;
  for (uint64_t tile = (uint64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32; tile < count; tile += warps) {
    const Tiles t = tiles_from(S, all, tile);
    uint32_t a[S.a_registers()], b[S.b_registers()], c[S.c_registers()], d[S.d_registers()];
    load_c<S>(t, lane, c);
    for (int step = 0; step < t.steps; ++step) {
      load_a<S>(t, step, lane, a);
      load_b<S>(t, step, lane, b);
      I::mma(d, a, b, c, load_scale_a<S>(t, step, lane), load_scale_b<S>(t, step, lane));
      if constexpr (S.c_bits == S.d_bits)
        for (int r = 0; r < S.c_registers(); ++r) c[r] = d[r];
    }
    store_d<S>(t, lane, d);
  }
}

inline constexpr int mma_block = 256;
inline unsigned mma_grid(uint64_t tiles) { return blocks_for(tiles * 32, mma_block, 65536); }

template <class I>
void launch_mma_tiles(const Tiles& tiles, uint64_t count, const WgmmaModifiers&) {
  run_mma_tiles<I><<<mma_grid(count), mma_block>>>(tiles, count);
}

// Operand lists for asm: D: outputs d, IN: inputs x; then the number of registers, of 64 bits where L follows.
#define MMAFUZZ_D2 "=r"(d[0]), "=r"(d[1])
#define MMAFUZZ_D4 MMAFUZZ_D2, "=r"(d[2]), "=r"(d[3])
#define MMAFUZZ_D8 MMAFUZZ_D4, "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7])
#define MMAFUZZ_IN1(x) "r"(x[0])
#define MMAFUZZ_IN2(x) MMAFUZZ_IN1(x), "r"(x[1])
#define MMAFUZZ_IN4(x) MMAFUZZ_IN2(x), "r"(x[2]), "r"(x[3])
#define MMAFUZZ_IN8(x) MMAFUZZ_IN4(x), "r"(x[4]), "r"(x[5]), "r"(x[6]), "r"(x[7])
#define MMAFUZZ_D2L "=l"(d64[0]), "=l"(d64[1])
#define MMAFUZZ_D4L MMAFUZZ_D2L, "=l"(d64[2]), "=l"(d64[3])
#define MMAFUZZ_IN1L(x) "l"(get_field(x, 64, 0))
#define MMAFUZZ_IN2L(x) MMAFUZZ_IN1L(x), "l"(get_field(x, 64, 1))
#define MMAFUZZ_IN4L(x) MMAFUZZ_IN2L(x), "l"(get_field(x, 64, 2)), "l"(get_field(x, 64, 3))
#define MMAFUZZ_IN8L(x)                                                                          \
  MMAFUZZ_IN4L(x), "l"(get_field(x, 64, 4)), "l"(get_field(x, 64, 5)), "l"(get_field(x, 64, 6)), \
      "l"(get_field(x, 64, 7))

/// The assembly of one instruction. The numbers of registers of d, a and c, which follow from the shape, imply b's.
#define MMAFUZZ_ASM(NAME)                                                                                              \
  constexpr int nd = shape.d_registers(), na = shape.a_registers(), nc = shape.c_registers();                          \
  if constexpr (shape.operand_bits == 64) {                                                                            \
    uint64_t d64[4];                                                                                                   \
    if constexpr (na == 2)                                                                                             \
      asm volatile(NAME " {%0,%1},{%2},{%3},{%4,%5};"                                                                  \
                   : MMAFUZZ_D2L                                                                                       \
                   : MMAFUZZ_IN1L(a), MMAFUZZ_IN1L(b), MMAFUZZ_IN2L(c));                                               \
    else if constexpr (na == 4)                                                                                        \
      asm volatile(NAME " {%0,%1,%2,%3},{%4,%5},{%6},{%7,%8,%9,%10};"                                                  \
                   : MMAFUZZ_D4L                                                                                       \
                   : MMAFUZZ_IN2L(a), MMAFUZZ_IN1L(b), MMAFUZZ_IN4L(c));                                               \
    else if constexpr (na == 8)                                                                                        \
      asm volatile(NAME " {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};"                                      \
                   : MMAFUZZ_D4L                                                                                       \
                   : MMAFUZZ_IN4L(a), MMAFUZZ_IN2L(b), MMAFUZZ_IN4L(c));                                               \
    else                                                                                                               \
      asm volatile(NAME " {%0,%1,%2,%3},{%4,%5,%6,%7,%8,%9,%10,%11},{%12,%13,%14,%15},{%16,%17,%18,%19};"              \
                   : MMAFUZZ_D4L                                                                                       \
                   : MMAFUZZ_IN8L(a), MMAFUZZ_IN4L(b), MMAFUZZ_IN4L(c));                                               \
    for (int i = 0; i < nd / 2; ++i) {                                                                                 \
      d[2 * i] = static_cast<uint32_t>(d64[i]);                                                                        \
      d[2 * i + 1] = static_cast<uint32_t>(d64[i] >> 32);                                                              \
    }                                                                                                                  \
  } else if constexpr (shape.matrices == 4 && nd == 8 && nc == 8) {                                                    \
    asm volatile(NAME " {%0,%1,%2,%3,%4,%5,%6,%7},{%8,%9},{%10,%11},{%12,%13,%14,%15,%16,%17,%18,%19};"                \
                 : MMAFUZZ_D8                                                                                          \
                 : MMAFUZZ_IN2(a), MMAFUZZ_IN2(b), MMAFUZZ_IN8(c));                                                    \
  } else if constexpr (shape.matrices == 4 && nd == 8) {                                                               \
    asm volatile(NAME " {%0,%1,%2,%3,%4,%5,%6,%7},{%8,%9},{%10,%11},{%12,%13,%14,%15};"                                \
                 : MMAFUZZ_D8                                                                                          \
                 : MMAFUZZ_IN2(a), MMAFUZZ_IN2(b), MMAFUZZ_IN4(c));                                                    \
  } else if constexpr (shape.matrices == 4) {                                                                          \
    asm volatile(NAME " {%0,%1,%2,%3},{%4,%5},{%6,%7},{%8,%9,%10,%11};"                                                \
                 : MMAFUZZ_D4                                                                                          \
                 : MMAFUZZ_IN2(a), MMAFUZZ_IN2(b), MMAFUZZ_IN4(c));                                                    \
  } else if constexpr (na == 1) {                                                                                      \
    asm volatile(NAME " {%0,%1},{%2},{%3},{%4,%5};" : MMAFUZZ_D2 : MMAFUZZ_IN1(a), MMAFUZZ_IN1(b), MMAFUZZ_IN2(c));    \
  } else if constexpr (na == 2 && nd == 4) {                                                                           \
    asm volatile(NAME " {%0,%1,%2,%3},{%4,%5},{%6},{%7,%8,%9,%10};"                                                    \
                 : MMAFUZZ_D4                                                                                          \
                 : MMAFUZZ_IN2(a), MMAFUZZ_IN1(b), MMAFUZZ_IN4(c));                                                    \
  } else if constexpr (na == 2) {                                                                                      \
    asm volatile(NAME " {%0,%1},{%2,%3},{%4},{%5,%6};" : MMAFUZZ_D2 : MMAFUZZ_IN2(a), MMAFUZZ_IN1(b), MMAFUZZ_IN2(c)); \
  } else if constexpr (nd == 4) {                                                                                      \
    asm volatile(NAME " {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};"                                        \
                 : MMAFUZZ_D4                                                                                          \
                 : MMAFUZZ_IN4(a), MMAFUZZ_IN2(b), MMAFUZZ_IN4(c));                                                    \
  } else {                                                                                                             \
    asm volatile(NAME " {%0,%1},{%2,%3,%4,%5},{%6,%7},{%8,%9};"                                                        \
                 : MMAFUZZ_D2                                                                                          \
                 : MMAFUZZ_IN4(a), MMAFUZZ_IN2(b), MMAFUZZ_IN2(c));                                                    \
  }

/// The assembly of an instruction with block scales; the thread and byte selectors are 0.
#define MMAFUZZ_SCALED_ASM(NAME)                                                                      \
  asm volatile(NAME " {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13},{%14},{0,0},{%15},{0,0};" \
               : MMAFUZZ_D4                                                                           \
               : MMAFUZZ_IN4(a), MMAFUZZ_IN2(b), MMAFUZZ_IN4(c), "r"(scale_a), "r"(scale_b))

/// The assembly of an instruction with sparse a, whose metadata is passed as scale_a; the selector is 0.
#define MMAFUZZ_SPARSE_ASM(NAME)                                                              \
  constexpr int nd = shape.d_registers(), na = shape.a_registers();                           \
  if constexpr (na == 2 && nd == 4) {                                                         \
    asm volatile(NAME " {%0,%1,%2,%3},{%4,%5},{%6,%7},{%8,%9,%10,%11},%12,0;"                 \
                 : MMAFUZZ_D4                                                                 \
                 : MMAFUZZ_IN2(a), MMAFUZZ_IN2(b), MMAFUZZ_IN4(c), "r"(scale_a));             \
  } else if constexpr (na == 2) {                                                             \
    asm volatile(NAME " {%0,%1},{%2,%3},{%4,%5},{%6,%7},%8,0;"                                \
                 : MMAFUZZ_D2                                                                 \
                 : MMAFUZZ_IN2(a), MMAFUZZ_IN2(b), MMAFUZZ_IN2(c), "r"(scale_a));             \
  } else if constexpr (nd == 4) {                                                             \
    asm volatile(NAME " {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9,%10,%11},{%12,%13,%14,%15},%16,0;" \
                 : MMAFUZZ_D4                                                                 \
                 : MMAFUZZ_IN4(a), MMAFUZZ_IN4(b), MMAFUZZ_IN4(c), "r"(scale_a));             \
  } else {                                                                                    \
    asm volatile(NAME " {%0,%1},{%2,%3,%4,%5},{%6,%7,%8,%9},{%10,%11},%12,0;"                 \
                 : MMAFUZZ_D2                                                                 \
                 : MMAFUZZ_IN4(a), MMAFUZZ_IN4(b), MMAFUZZ_IN2(c), "r"(scale_a));             \
  }

/// A row as a type ID: its shape, its architectures (a name of namespace arch) and mma(), whose BODY is one of the
/// assemblies above. mma() computes one step in a lane's registers; elsewhere than on ARCHS it does nothing.
#define MMAFUZZ_INSTRUCTION(ID, SHAPE, ARCHS, BODY)                                                                    \
  struct ID {                                                                                                          \
    static constexpr TileShape shape = SHAPE;                                                                          \
    static constexpr unsigned archs = arch::ARCHS;                                                                     \
    __device__ static void mma(uint32_t* d, const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t scale_a, \
                               uint32_t scale_b) {                                                                     \
      if constexpr ((archs & this_arch) != 0) {                                                                        \
        BODY;                                                                                                          \
      }                                                                                                                \
    }                                                                                                                  \
  };

}  // namespace mmafuzz
