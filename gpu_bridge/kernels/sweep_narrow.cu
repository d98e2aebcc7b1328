// Comparison at the speed of the device with the models of narrow_shapes.def.h.
#include "gpu_bridge/kernels/narrow_shapes.def.h"
#include "gpu_bridge/kernels/sweep_model.cuh"
#include "gpu_bridge/kernels/this_arch.cuh"

namespace mmafuzz {
namespace {

/// K elements of a row or column, read as words.
template <int K, int Bytes>
__device__ void load_vector(const uint8_t* from, uint32_t flip, uint32_t* to) {
  constexpr int per_word = 8 / Bytes;
  static_assert(K % per_word == 0);
#pragma unroll
  for (int w = 0; w < K / per_word; ++w) {
    const uint64_t word = reinterpret_cast<const uint64_t*>(from)[w];
#pragma unroll
    for (int i = 0; i < per_word; ++i)
      to[w * per_word + i] = static_cast<uint32_t>((word >> (8 * Bytes * i)) & low_mask(8 * Bytes)) ^ flip;
  }
}

template <NarrowShape S, unsigned archs>
struct NarrowClaim {
  __device__ static uint64_t result(const SweepRequest& r, const Tiles& all, uint64_t tile, int cell) {
    if constexpr ((archs & this_arch) == 0) {
      return 0;  // never launched here
    } else {
      constexpr int bytes = (S.a.width + 7) / 8;
      constexpr uint32_t sign_a = static_cast<uint32_t>(S.a.in_container(S.a.sign_bit())),
                         sign_b = static_cast<uint32_t>(S.b.in_container(S.b.sign_bit()));
      const Tiles t = tiles_from(r.shape, all, tile - r.first_tile);
      const int row = cell / r.shape.n, column = r.shape.b_column(row, cell % r.shape.n);
      uint32_t a[S.k], b[S.k];
      load_vector<S.k, bytes>(t.a + row * S.k * bytes, r.modifiers.negate_a ? sign_a : 0, a);
      load_vector<S.k, bytes>(t.b + column * S.k * bytes, r.modifiers.negate_b ? sign_b : 0, b);
      const uint64_t c = r.modifiers.scale_d ? read_element(t.c, r.shape.c_bits / 8, cell) : 0;
      return narrow_fused_sum<S>(r.model, a, b, static_cast<uint32_t>(c));
    }
  }
};

}  // namespace

LaunchComparison narrow_comparison(const DotModel& model, int k, unsigned on) {
  using namespace narrow_shapes;
#define ROW(kernel, products, block, a, b, archs)                                                            \
  {                                                                                                          \
    constexpr NarrowShape shape{Kernel::kernel, products, block, a, b};                                      \
    if (((archs)&on) && narrow_fits(shape, model, k)) return launch_comparison<NarrowClaim<shape, (archs)>>; \
  }
  MMAFUZZ_NARROW(ROW)
#undef ROW
  return nullptr;
}

}  // namespace mmafuzz
