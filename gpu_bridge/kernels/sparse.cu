// mma.sp.sync: a holds two of each four elements along k; of tf32, one of each two.
#include "gpu_bridge/kernels/mma_kernel.cuh"
#include "gpu_bridge/kernels/panel_kernel.cuh"

namespace mmafuzz {
namespace {

#define ROW(m, n, k, D, A, B, C, archs)                                                                            \
  MMAFUZZ_INSTRUCTION(Sparse_##k##_##D##_##A##_##B, sparse_shape(mma_shape(m, n, k, #D, #A, #B, #C)), archs,       \
                      MMAFUZZ_SPARSE_ASM("mma.sp::ordered_metadata.sync.aligned.m" #m "n" #n "k" #k ".row.col." #D \
                                         "." #A "." #B "." #C))
MMAFUZZ_MMA_SPARSE(ROW)
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs) \
  MMAFUZZ_MMA_PANELS(Panels_sparse_##k##_##D##_##A##_##B, Sparse_##k##_##D##_##A##_##B, sweep::types_of(#D, #A, #B))
MMAFUZZ_MMA_SPARSE(ROW)
#undef ROW

#define ROW(m, n, k, D, A, B, C, archs) launch_mma_tiles<Sparse_##k##_##D##_##A##_##B>,
constexpr LaunchTiles launches[] = {MMAFUZZ_MMA_SPARSE(ROW)};
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs) launch_panels<Panels_sparse_##k##_##D##_##A##_##B>,
constexpr LaunchPanels panels[] = {MMAFUZZ_MMA_SPARSE(ROW)};
#undef ROW

}  // namespace

LaunchTable sparse_launches() { return launches; }
PanelTable sparse_panels() { return panels; }

}  // namespace mmafuzz
