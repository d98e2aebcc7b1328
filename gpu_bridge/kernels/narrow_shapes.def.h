// The models that sweeps compare with in 32-bit registers: ROW(kernel, k, block, a, b, architectures with an
// instruction that claims it). Which instruction has which block: oracles/models/nvidia.cc. A model without a row is
// compared with by the general kernels.
#pragma once

#include "arithmetic/narrow_fused_sum.h"
#include "gpu_bridge/instructions/instruction_shapes.h"

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
  MMAFUZZ_NARROW_FP8(ROW, fused_sum, 32, 32, arch::sm90)                  \
  MMAFUZZ_NARROW_FP8(ROW, fused_sum, 16, 16, arch::sm89)                  \
  MMAFUZZ_NARROW_FP8(ROW, fused_sum, 32, 16, arch::sm89)                  \
  MMAFUZZ_NARROW_FP8(ROW, emulated_fp8, 16, 8, arch::sm90 | arch::sm100)  \
  MMAFUZZ_NARROW_FP8(ROW, emulated_fp8, 32, 16, arch::sm90 | arch::sm100)
#define MMAFUZZ_NARROW_FP8(ROW, kernel, k, block, archs) \
  ROW(kernel, k, block, e4m3, e4m3, archs)               \
  ROW(kernel, k, block, e4m3, e5m2, archs)               \
  ROW(kernel, k, block, e5m2, e4m3, archs)               \
  ROW(kernel, k, block, e5m2, e5m2, archs)

namespace mmafuzz::narrow_shapes {

/// Format of a PTX type that has a row; of width 0 for the others.
MMAFUZZ_HD constexpr FormatFields of_type(const char* type) {
  FormatFields f;
  if (same_type(type, "f16")) f = ieee_fields(5, 10);
  if (same_type(type, "bf16")) f = ieee_fields(8, 7);
  if (same_type(type, "e5m2")) f = ieee_fields(5, 2);
  if (same_type(type, "e4m3")) {
    f = ieee_fields(4, 3);
    f.specials = Specials::fn;
  }
  if (same_type(type, "tf32")) {
    f = ieee_fields(8, 10);
    f.width = 32;
    f.ignored_low_bits = 13;
  }
  return f;
}

// For host code and template arguments.
inline constexpr FormatFields f16 = of_type("f16"), bf16 = of_type("bf16"), tf32 = of_type("tf32"),
                              e4m3 = of_type("e4m3"), e5m2 = of_type("e5m2");

}  // namespace mmafuzz::narrow_shapes
