// Every matrix instruction that device units run, one row each: ROW(m, n, k, d, a, b, c, architectures). Sizes are the
// instruction's; d, a, b and c are PTX types. Device code makes a CUDA kernel of each row, host code a name, op and
// tile shape. docs/gpu.md says which GPU has which. To add an instruction, add its row to the list of its family.
#pragma once

namespace mmafuzz::arch {
// One bit for each architecture that the CUDA kernels are built for; from90 is the set of sm90 and all later ones.
inline constexpr unsigned sm75 = 1, sm80 = 2, sm86 = 4, sm89 = 8, sm90 = 16, sm100 = 32, sm120 = 64;
inline constexpr unsigned from120 = sm120, from100 = sm100 | from120, from90 = sm90 | from100, from89 = sm89 | from90,
                          from80 = sm80 | sm86 | from89, from75 = sm75 | from80;
}  // namespace mmafuzz::arch

#define MMAFUZZ_MMA(ROW)                         \
  ROW(8, 8, 4, f32, f16, f16, f32, from75)       \
  ROW(8, 8, 4, f32, f16, f16, f16, from75)       \
  ROW(8, 8, 4, f16, f16, f16, f16, from75)       \
  ROW(16, 8, 8, f32, f16, f16, f32, from75)      \
  ROW(16, 8, 8, f16, f16, f16, f16, from75)      \
  ROW(16, 8, 16, f32, f16, f16, f32, from80)     \
  ROW(16, 8, 16, f16, f16, f16, f16, from80)     \
  ROW(16, 8, 8, f32, bf16, bf16, f32, from80)    \
  ROW(16, 8, 16, f32, bf16, bf16, f32, from80)   \
  ROW(16, 8, 4, f32, tf32, tf32, f32, from80)    \
  ROW(16, 8, 8, f32, tf32, tf32, f32, from80)    \
  ROW(8, 8, 4, f64, f64, f64, f64, from80)       \
  ROW(16, 8, 4, f64, f64, f64, f64, from90)      \
  ROW(16, 8, 8, f64, f64, f64, f64, from90)      \
  ROW(16, 8, 16, f64, f64, f64, f64, from90)     \
  ROW(8, 8, 16, s32, s8, s8, s32, from75)        \
  ROW(16, 8, 16, s32, s8, s8, s32, from80)       \
  ROW(16, 8, 32, s32, s8, s8, s32, from80)       \
  MMAFUZZ_FP8_PAIRS(ROW, 16, 8, 16, f32, from89) \
  MMAFUZZ_FP8_PAIRS(ROW, 16, 8, 16, f16, from89) \
  MMAFUZZ_FP8_PAIRS(ROW, 16, 8, 32, f32, from89) \
  MMAFUZZ_FP8_PAIRS(ROW, 16, 8, 32, f16, from89)

// Sparse a: k counts the elements of a column of b, of which each row of a has every second one.
#define MMAFUZZ_MMA_SPARSE(ROW)                \
  ROW(16, 8, 16, f32, f16, f16, f32, from80)   \
  ROW(16, 8, 16, f16, f16, f16, f16, from80)   \
  ROW(16, 8, 32, f32, f16, f16, f32, from80)   \
  ROW(16, 8, 32, f16, f16, f16, f16, from80)   \
  ROW(16, 8, 16, f32, bf16, bf16, f32, from80) \
  ROW(16, 8, 32, f32, bf16, bf16, f32, from80) \
  ROW(16, 8, 8, f32, tf32, tf32, f32, from80)  \
  ROW(16, 8, 16, f32, tf32, tf32, f32, from80) \
  ROW(16, 8, 32, s32, s8, s8, s32, from80)     \
  ROW(16, 8, 64, s32, s8, s8, s32, from80)     \
  MMAFUZZ_FP8_PAIRS(ROW, 16, 8, 64, f32, from89)

#define MMAFUZZ_FP8_PAIRS(ROW, m, n, k, d, archs) \
  ROW(m, n, k, d, e4m3, e4m3, d, archs)           \
  ROW(m, n, k, d, e4m3, e5m2, d, archs)           \
  ROW(m, n, k, d, e5m2, e4m3, d, archs)           \
  ROW(m, n, k, d, e5m2, e5m2, d, archs)

// Pairs in which a type narrower than 8 bits takes part.
#define MMAFUZZ_NARROW_PAIRS(ROW, d)        \
  ROW(16, 8, 32, d, e4m3, e3m2, d, from120) \
  ROW(16, 8, 32, d, e4m3, e2m3, d, from120) \
  ROW(16, 8, 32, d, e4m3, e2m1, d, from120) \
  ROW(16, 8, 32, d, e5m2, e3m2, d, from120) \
  ROW(16, 8, 32, d, e5m2, e2m3, d, from120) \
  ROW(16, 8, 32, d, e5m2, e2m1, d, from120) \
  MMAFUZZ_NARROW_FIRST(ROW, d, e3m2)        \
  MMAFUZZ_NARROW_FIRST(ROW, d, e2m3)        \
  MMAFUZZ_NARROW_FIRST(ROW, d, e2m1)
#define MMAFUZZ_NARROW_FIRST(ROW, d, a)  \
  ROW(16, 8, 32, d, a, e4m3, d, from120) \
  ROW(16, 8, 32, d, a, e5m2, d, from120) \
  ROW(16, 8, 32, d, a, e3m2, d, from120) \
  ROW(16, 8, 32, d, a, e2m3, d, from120) \
  ROW(16, 8, 32, d, a, e2m1, d, from120)

#define MMAFUZZ_F8F6F4(ROW)                       \
  MMAFUZZ_FP8_PAIRS(ROW, 16, 8, 32, f32, from100) \
  MMAFUZZ_FP8_PAIRS(ROW, 16, 8, 32, f16, from100) \
  MMAFUZZ_NARROW_PAIRS(ROW, f32)                  \
  MMAFUZZ_NARROW_PAIRS(ROW, f16)

// Block-scaled: one ue8m0 scale for 32 products.
#define MMAFUZZ_MXF8F6F4(ROW)                     \
  MMAFUZZ_FP8_PAIRS(ROW, 16, 8, 32, f32, from120) \
  MMAFUZZ_NARROW_PAIRS(ROW, f32)

// k = 64 of e2m1: SCALED(kind, scale type, products per scale, PTX name of the vector size, architectures).
#define MMAFUZZ_MXF4NVF4(SCALED)           \
  SCALED(mxf4nvf4, ue8m0, 32, 2X, from120) \
  SCALED(mxf4nvf4, ue4m3, 16, 4X, from120) \
  SCALED(mxf4, ue8m0, 32, 2X, from120)

// Of the 32 widths (n = 8, 16, ... 256) the minimum, a middle one and the maximum.
#define MMAFUZZ_WGMMA(ROW) \
  MMAFUZZ_WGMMA_N(ROW, 8)  \
  MMAFUZZ_WGMMA_N(ROW, 64) \
  MMAFUZZ_WGMMA_N(ROW, 256)
#define MMAFUZZ_WGMMA_N(ROW, n)                \
  ROW(64, n, 16, f32, f16, f16, f32, sm90)     \
  ROW(64, n, 16, f16, f16, f16, f16, sm90)     \
  ROW(64, n, 16, f32, bf16, bf16, f32, sm90)   \
  ROW(64, n, 8, f32, tf32, tf32, f32, sm90)    \
  MMAFUZZ_FP8_PAIRS(ROW, 64, n, 32, f32, sm90) \
  MMAFUZZ_FP8_PAIRS(ROW, 64, n, 32, f16, sm90) \
  ROW(64, n, 32, s32, s8, s8, s32, sm90)

#define MMAFUZZ_WGMMA_SPARSE(ROW) \
  MMAFUZZ_WGMMA_SPARSE_N(ROW, 8)  \
  MMAFUZZ_WGMMA_SPARSE_N(ROW, 64)
#define MMAFUZZ_WGMMA_SPARSE_N(ROW, n)         \
  ROW(64, n, 32, f32, f16, f16, f32, sm90)     \
  ROW(64, n, 32, f16, f16, f16, f16, sm90)     \
  ROW(64, n, 32, f32, bf16, bf16, f32, sm90)   \
  ROW(64, n, 16, f32, tf32, tf32, f32, sm90)   \
  MMAFUZZ_FP8_PAIRS(ROW, 64, n, 64, f32, sm90) \
  MMAFUZZ_FP8_PAIRS(ROW, 64, n, 64, f16, sm90) \
  ROW(64, n, 64, s32, s8, s8, s32, sm90)

#define MMAFUZZ_WMMA(ROW)                       \
  ROW(16, 16, 16, f32, f16, f16, f32, from75)   \
  ROW(16, 16, 16, f16, f16, f16, f16, from75)   \
  ROW(16, 16, 16, f32, bf16, bf16, f32, from80) \
  ROW(16, 16, 8, f32, tf32, tf32, f32, from80)  \
  ROW(8, 8, 4, f64, f64, f64, f64, from80)
