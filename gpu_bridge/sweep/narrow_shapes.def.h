// The models with which sweeps compare in 32-bit registers: ROW(kernel, k, block, a, b, scale, architectures with an
// instruction that claims it). k is the dot's, which WMMA can compile to several instructions; block is the number of
// products in one sum, by the rows of oracles/models/nvidia.cc. a, b and scale are PTX types. A model that has neither
// a row here nor another claim in sweep/panel_claims.h is compared with by the general CUDA kernels
// (kernels/sweep_model.cuh).
#pragma once

#include "arithmetic/narrow_fused_sum.h"
#include "gpu_bridge/instructions/instruction_shapes.h"

#define MMAFUZZ_NARROW(ROW)                                                                \
  ROW(fused_sum, 8, 8, f16, f16, none, arch::from75)                                       \
  ROW(fused_sum, 16, 8, f16, f16, none, arch::sm75 | arch::sm80 | arch::sm86 | arch::sm89) \
  ROW(fused_sum, 16, 16, f16, f16, none, arch::from90)                                     \
  ROW(fused_sum, 8, 8, bf16, bf16, none, arch::from80)                                     \
  ROW(fused_sum, 16, 8, bf16, bf16, none, arch::sm80 | arch::sm86 | arch::sm89)            \
  ROW(fused_sum, 16, 16, bf16, bf16, none, arch::from90)                                   \
  ROW(fused_sum, 4, 4, tf32, tf32, none, arch::from80)                                     \
  ROW(fused_sum, 8, 4, tf32, tf32, none, arch::from80)                                     \
  ROW(fused_sum, 8, 8, tf32, tf32, none, arch::from90)                                     \
  MMAFUZZ_NARROW_FP8(ROW, fused_sum, 32, 32, arch::sm90)                                   \
  MMAFUZZ_NARROW_FP8(ROW, fused_sum, 16, 16, arch::sm89)                                   \
  MMAFUZZ_NARROW_FP8(ROW, fused_sum, 32, 16, arch::sm89)                                   \
  MMAFUZZ_NARROW_FP8(ROW, fused_sum, 16, 16, arch::from120)                                \
  MMAFUZZ_NARROW_PAIRS_OF(ROW, none, arch::from120)                                        \
  MMAFUZZ_NARROW_PAIRS_OF(ROW, ue8m0, arch::from120)                                       \
  MMAFUZZ_NARROW_FP8(ROW, emulated_fp8, 16, 8, arch::sm90 | arch::sm100)                   \
  MMAFUZZ_NARROW_FP8(ROW, emulated_fp8, 32, 16, arch::sm90 | arch::sm100)
#define MMAFUZZ_NARROW_FP8(ROW, kernel, k, block, archs) \
  ROW(kernel, k, block, e4m3, e4m3, none, archs)         \
  ROW(kernel, k, block, e4m3, e5m2, none, archs)         \
  ROW(kernel, k, block, e5m2, e4m3, none, archs)         \
  ROW(kernel, k, block, e5m2, e5m2, none, archs)
// Any two of the types of kind::f8f6f4 and kind::mxf8f6f4.
#define MMAFUZZ_NARROW_PAIRS_OF(ROW, scale, archs) \
  MMAFUZZ_NARROW_WITH(ROW, e4m3, scale, archs)     \
  MMAFUZZ_NARROW_WITH(ROW, e5m2, scale, archs)     \
  MMAFUZZ_NARROW_WITH(ROW, e3m2, scale, archs)     \
  MMAFUZZ_NARROW_WITH(ROW, e2m3, scale, archs)     \
  MMAFUZZ_NARROW_WITH(ROW, e2m1, scale, archs)
#define MMAFUZZ_NARROW_WITH(ROW, a, scale, archs) \
  ROW(fused_sum, 32, 32, a, e4m3, scale, archs)   \
  ROW(fused_sum, 32, 32, a, e5m2, scale, archs)   \
  ROW(fused_sum, 32, 32, a, e3m2, scale, archs)   \
  ROW(fused_sum, 32, 32, a, e2m3, scale, archs)   \
  ROW(fused_sum, 32, 32, a, e2m1, scale, archs)

namespace mmafuzz::narrow_shapes {

/// The format of a PTX type name, equal to core/format.h's (tests/panel_test.cc); of width 0 for "none".
MMAFUZZ_HD constexpr FormatFields of_type(const char* type) {
  FormatFields f;
  const auto make = [&f](int exponent_bits, int fraction_bits, Specials specials) {
    f = ieee_fields(exponent_bits, fraction_bits);
    f.specials = specials;
  };
  if (same_type(type, "f64")) make(11, 52, Specials::ieee);
  if (same_type(type, "f32")) make(8, 23, Specials::ieee);
  if (same_type(type, "f16")) make(5, 10, Specials::ieee);
  if (same_type(type, "bf16")) make(8, 7, Specials::ieee);
  if (same_type(type, "e5m2")) make(5, 2, Specials::ieee);
  if (same_type(type, "e4m3")) make(4, 3, Specials::fn);
  if (same_type(type, "e3m2")) make(3, 2, Specials::none);
  if (same_type(type, "e2m3")) make(2, 3, Specials::none);
  if (same_type(type, "e2m1")) make(2, 1, Specials::none);
  if (same_type(type, "tf32")) {
    make(8, 10, Specials::ieee);
    f.width = 32;
    f.ignored_low_bits = 13;
  }
  if (same_type(type, "ue4m3")) {
    make(4, 3, Specials::fn);
    f.sign = SignField::ignored;
  }
  if (same_type(type, "ue8m0")) {
    make(8, 0, Specials::top_code);
    f.width = 8;
    f.sign = SignField::absent;
    f.subnormals = SubnormalRule::absent;
  }
  if (same_type(type, "s8") || same_type(type, "s32")) {
    f.width = same_type(type, "s8") ? 8 : 32;
    f.specials = Specials::none;
    f.integer = true;
  }
  return f;
}

// For host code and template arguments.
inline constexpr FormatFields f16 = of_type("f16"), bf16 = of_type("bf16"), tf32 = of_type("tf32"),
                              e4m3 = of_type("e4m3"), e5m2 = of_type("e5m2"), e3m2 = of_type("e3m2"),
                              e2m3 = of_type("e2m3"), e2m1 = of_type("e2m1"), ue8m0 = of_type("ue8m0"),
                              none = of_type("none");

}  // namespace mmafuzz::narrow_shapes
