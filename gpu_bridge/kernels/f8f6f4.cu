// mma.sync with kind::f8f6f4: any pair of 8-, 6- and 4-bit formats.
#include "gpu_bridge/kernels/mma_kernel.cuh"
#include "gpu_bridge/kernels/panel_kernel.cuh"

namespace mmafuzz {
namespace {

#define ROW(m, n, k, D, A, B, C, archs)                                     \
  MMAFUZZ_INSTRUCTION(                                                      \
      Mma_##k##_##D##_##A##_##B, mma_shape(m, n, k, #D, #A, #B, #C), archs, \
      MMAFUZZ_ASM("mma.sync.aligned.kind::f8f6f4.m" #m "n" #n "k" #k ".row.col." #D "." #A "." #B "." #C))
MMAFUZZ_F8F6F4(ROW)
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs) \
  MMAFUZZ_MMA_PANELS(Panels_f8f6f4_##k##_##D##_##A##_##B, Mma_##k##_##D##_##A##_##B, sweep::types_of(#D, #A, #B))
MMAFUZZ_F8F6F4(ROW)
#undef ROW

#define ROW(m, n, k, D, A, B, C, archs) launch_mma_tiles<Mma_##k##_##D##_##A##_##B>,
constexpr LaunchTiles launches[] = {MMAFUZZ_F8F6F4(ROW)};
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs) launch_panels<Panels_f8f6f4_##k##_##D##_##A##_##B>,
constexpr LaunchPanels panels[] = {MMAFUZZ_F8F6F4(ROW)};
#undef ROW

}  // namespace

LaunchTable f8f6f4_launches() { return launches; }
PanelTable f8f6f4_panels() { return panels; }

}  // namespace mmafuzz
