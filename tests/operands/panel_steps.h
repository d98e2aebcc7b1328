// The panels whose compiled steps are compared with the host's: ROW(name, claim).
#pragma once

#include "gpu_bridge/sweep/instruction_claims.h"
#include "gpu_bridge/sweep/panel.h"

namespace mmafuzz::panel_steps {
using namespace narrow_shapes;
using sweep::FusedClaim;
inline constexpr NarrowShape fp16_sum{Kernel::fused_sum, 16, 16, f16, f16},
    bf16_sum{Kernel::fused_sum, 16, 16, bf16, bf16}, tf32_sum{Kernel::fused_sum, 8, 8, tf32, tf32},
    fp8_sum{Kernel::emulated_fp8, 32, 16, e4m3, e5m2}, mx_sum{Kernel::fused_sum, 32, 32, e4m3, e2m1, ue8m0};
inline constexpr FormatFields ue4m3 = of_type("ue4m3"), s8 = of_type("s8"), s32 = of_type("s32");
using F16F32 = FusedClaim<fp16_sum, false>;
using F16F16 = FusedClaim<fp16_sum, true>;
using Bf16 = FusedClaim<bf16_sum, false>;
using Tf32 = FusedClaim<tf32_sum, false>;
using Fp8 = FusedClaim<fp8_sum, false>;
using Mx = FusedClaim<mx_sum, false>;
using Nvfp4 = sweep::GroupedClaim<e2m1, ue4m3, 16>;
using Integers = sweep::IntegerClaim<s8, s32, 32>;
using Doubles = sweep::ChainClaim<16>;
}  // namespace mmafuzz::panel_steps

#define PANEL_STEPS(ROW)               \
  ROW(f16_f32, panel_steps::F16F32)    \
  ROW(f16_f16, panel_steps::F16F16)    \
  ROW(bf16_f32, panel_steps::Bf16)     \
  ROW(tf32_f32, panel_steps::Tf32)     \
  ROW(e4m3_e5m2_f32, panel_steps::Fp8) \
  ROW(e4m3_e2m1_mx, panel_steps::Mx)   \
  ROW(e2m1_nvfp4, panel_steps::Nvfp4)  \
  ROW(s8_s32, panel_steps::Integers)   \
  ROW(f64_f64, panel_steps::Doubles)
