// mma.sync without block scales: fp16, bf16, tf32, fp64, s8, e4m3 and e5m2.
#include "gpu_bridge/kernels/mma_kernel.cuh"
#include "gpu_bridge/kernels/panel_kernel.cuh"

namespace mmafuzz {
namespace {

#define ROW(m, n, k, D, A, B, C, archs)                                                                 \
  MMAFUZZ_INSTRUCTION(Mma_##m##_##k##_##D##_##A##_##B##_##C, mma_shape(m, n, k, #D, #A, #B, #C), archs, \
                      MMAFUZZ_ASM("mma.sync.aligned.m" #m "n" #n "k" #k ".row.col." #D "." #A "." #B "." #C))
MMAFUZZ_MMA(ROW)
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs)                                                               \
  MMAFUZZ_MMA_PANELS(Panels_##m##_##k##_##D##_##A##_##B##_##C, Mma_##m##_##k##_##D##_##A##_##B##_##C, \
                     sweep::types_of(#D, #A, #B))
MMAFUZZ_MMA(ROW)
#undef ROW

#define ROW(m, n, k, D, A, B, C, archs) launch_mma_tiles<Mma_##m##_##k##_##D##_##A##_##B##_##C>,
constexpr LaunchTiles launches[] = {MMAFUZZ_MMA(ROW)};
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs) launch_panels<Panels_##m##_##k##_##D##_##A##_##B##_##C>,
constexpr LaunchPanels panels[] = {MMAFUZZ_MMA(ROW)};
#undef ROW

}  // namespace

LaunchTable mma_launches() { return launches; }
PanelTable mma_panels() { return panels; }

}  // namespace mmafuzz
