// The panels whose compiled steps are compared with the host's: ROW(name, shape, d is fp16).
#pragma once

#include "gpu_bridge/kernels/narrow_shapes.def.h"
#include "gpu_bridge/sweep/panel.h"

namespace mmafuzz::panel_steps {
using namespace narrow_shapes;
inline constexpr NarrowShape fp16_sum{Kernel::fused_sum, 16, 16, f16, f16},
    bf16_sum{Kernel::fused_sum, 16, 16, bf16, bf16}, tf32_sum{Kernel::fused_sum, 8, 8, tf32, tf32},
    fp8_sum{Kernel::emulated_fp8, 32, 16, e4m3, e5m2};
}  // namespace mmafuzz::panel_steps

#define PANEL_STEPS(ROW)                      \
  ROW(f16_f32, panel_steps::fp16_sum, false)  \
  ROW(f16_f16, panel_steps::fp16_sum, true)   \
  ROW(bf16_f32, panel_steps::bf16_sum, false) \
  ROW(tf32_f32, panel_steps::tf32_sum, false) \
  ROW(e4m3_e5m2_f32, panel_steps::fp8_sum, false)
