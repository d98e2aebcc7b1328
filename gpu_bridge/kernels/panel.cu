// Sweeps of mma.sync at the speed of the comparison.
#include <cuda_runtime.h>

#include "gpu_bridge/kernels/panel_kernel.cuh"

namespace mmafuzz {
namespace {

#define ROW(m, n, length, D, A, B, C, archs)                                                                       \
  MMAFUZZ_INSTRUCTION(Mma_##m##_##length##_##D##_##A##_##B##_##C, mma_shape(m, n, length, #D, #A, #B, #C), archs,  \
                      MMAFUZZ_ASM("mma.sync.aligned.m" #m "n" #n "k" #length ".row.col." #D "." #A "." #B "." #C)) \
  struct Panels_##m##_##length##_##D##_##A##_##B##_##C : Mma_##m##_##length##_##D##_##A##_##B##_##C {              \
    static constexpr FormatFields a = narrow_shapes::of_type(#A), b = narrow_shapes::of_type(#B);                  \
  };
MMAFUZZ_MMA(ROW)
#undef ROW

#define ROW(m, n, length, D, A, B, C, archs) launch_panels<Panels_##m##_##length##_##D##_##A##_##B##_##C>,
constexpr LaunchPanels launches[] = {MMAFUZZ_MMA(ROW)};
#undef ROW

}  // namespace

LaunchPanels panel_launch(int instruction) {
  constexpr int count = sizeof launches / sizeof *launches;
  return instruction < count ? launches[instruction] : nullptr;
}

}  // namespace mmafuzz
