// mma.sync with block scales: MXFP8, MXFP6, MXFP4 (kind::mxf8f6f4) and MXFP4, NVFP4 at k = 64 (kind::mxf4nvf4,
// kind::mxf4).
#include "gpu_bridge/kernels/mma_kernel.cuh"
#include "gpu_bridge/kernels/panel_kernel.cuh"

namespace mmafuzz {
namespace {

#define ROW(m, n, k, D, A, B, C, archs)                                                                          \
  MMAFUZZ_INSTRUCTION(Mx_##A##_##B, mma_shape(m, n, k, #D, #A, #B, #C, 1), archs,                                \
                      MMAFUZZ_SCALED_ASM("mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m" #m "n" #n \
                                         "k" #k ".row.col." #D "." #A "." #B "." #C ".ue8m0"))
MMAFUZZ_MXF8F6F4(ROW)
#undef ROW

#define SCALED(kind, type, block, size, archs)                                                                       \
  MMAFUZZ_INSTRUCTION(Mx4_##kind##_##type##_##block, mma_shape(16, 8, 64, "f32", "e2m1", "e2m1", "f32", 64 / block), \
                      archs,                                                                                         \
                      MMAFUZZ_SCALED_ASM("mma.sync.aligned.kind::" #kind ".block_scale.scale_vec::" #size            \
                                         ".m16n8k64.row.col.f32.e2m1.e2m1.f32." #type))
MMAFUZZ_MXF4NVF4(SCALED)
#undef SCALED

#define ROW(m, n, k, D, A, B, C, archs) \
  MMAFUZZ_MMA_PANELS(Panels_mxf8f6f4_##k##_##A##_##B, Mx_##A##_##B, sweep::types_of(#D, #A, #B, "ue8m0"))
MMAFUZZ_MXF8F6F4(ROW)
#undef ROW
#define SCALED(kind, type, block, size, archs)                                           \
  MMAFUZZ_MMA_PANELS(Panels_##kind##_64_##type##_##block, Mx4_##kind##_##type##_##block, \
                     sweep::types_of("f32", "e2m1", "e2m1", #type))
MMAFUZZ_MXF4NVF4(SCALED)
#undef SCALED

#define ROW(m, n, k, D, A, B, C, archs) launch_mma_tiles<Mx_##A##_##B>,
#define SCALED(kind, type, block, size, archs) launch_mma_tiles<Mx4_##kind##_##type##_##block>,
constexpr LaunchTiles launches[] = {MMAFUZZ_MXF8F6F4(ROW) MMAFUZZ_MXF4NVF4(SCALED)};
#undef ROW
#undef SCALED
#define ROW(m, n, k, D, A, B, C, archs) launch_panels<Panels_mxf8f6f4_##k##_##A##_##B>,
#define SCALED(kind, type, block, size, archs) launch_panels<Panels_##kind##_64_##type##_##block>,
constexpr LaunchPanels panels[] = {MMAFUZZ_MXF8F6F4(ROW) MMAFUZZ_MXF4NVF4(SCALED)};
#undef ROW
#undef SCALED

}  // namespace

LaunchTable block_scaled_launches() { return launches; }
PanelTable block_scaled_panels() { return panels; }

}  // namespace mmafuzz
