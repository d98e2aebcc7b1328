// The models that sweeps compare with in 32-bit registers: ROW(kernel, k, block, a, b, architectures with an
// instruction that claims it). Which instruction has which block: oracles/models/nvidia.cc. A model without a row is
// compared with by the general kernels.
#pragma once

#include "arithmetic/narrow_fused_sum.h"
#include "gpu_bridge/instructions/instructions.def.h"

#define MMAFUZZ_NARROW(ROW)                                               \
  ROW(fused_sum, 8, 8, f16, f16, arch::from75)                            \
  ROW(fused_sum, 16, 8, f16, f16, arch::sm80 | arch::sm86 | arch::sm89)   \
  ROW(fused_sum, 16, 16, f16, f16, arch::from90)                          \
  ROW(fused_sum, 8, 8, bf16, bf16, arch::from80)                          \
  ROW(fused_sum, 16, 8, bf16, bf16, arch::sm80 | arch::sm86 | arch::sm89) \
  ROW(fused_sum, 16, 16, bf16, bf16, arch::from90)                        \
  ROW(fused_sum, 4, 4, tf32, tf32, arch::from80)                          \
  ROW(fused_sum, 8, 4, tf32, tf32, arch::sm80 | arch::sm86 | arch::sm89)  \
  ROW(fused_sum, 8, 8, tf32, tf32, arch::from90)                          \
  MMAFUZZ_NARROW_FP8(ROW, fused_sum, 32, arch::sm90)                      \
  MMAFUZZ_NARROW_FP8(ROW, fused_sum, 16, arch::sm89)                      \
  MMAFUZZ_NARROW_FP8(ROW, emulated_fp8, 16, arch::sm90 | arch::sm100)
#define MMAFUZZ_NARROW_FP8(ROW, kernel, block, archs) \
  ROW(kernel, 32, block, e4m3, e4m3, archs)           \
  ROW(kernel, 32, block, e4m3, e5m2, archs)           \
  ROW(kernel, 32, block, e5m2, e4m3, archs)           \
  ROW(kernel, 32, block, e5m2, e5m2, archs)

namespace mmafuzz::narrow_shapes {

inline constexpr FormatFields f16 = ieee_fields(5, 10), bf16 = ieee_fields(8, 7), e5m2 = ieee_fields(5, 2);
inline constexpr FormatFields tf32 = [] {
  FormatFields f = ieee_fields(8, 10);
  f.width = 32;
  f.ignored_low_bits = 13;
  return f;
}();
inline constexpr FormatFields e4m3 = [] {
  FormatFields f = ieee_fields(4, 3);
  f.specials = Specials::fn;
  return f;
}();

}  // namespace mmafuzz::narrow_shapes
