// Which claim of panel_claims.h describes an instruction on an architecture, for sweeps in panels.
#pragma once

#include <type_traits>

#include "gpu_bridge/sweep/narrow_shapes.def.h"
#include "gpu_bridge/sweep/panel_claims.h"

namespace mmafuzz::sweep {

/// The formats of an instruction's operands; scale has width 0 where there are no scales.
struct InstructionTypes {
  FormatFields d, a, b, scale;
};
/// The formats from PTX type names.
constexpr InstructionTypes types_of(const char* d, const char* a, const char* b, const char* scale = "none") {
  using narrow_shapes::of_type;
  return {of_type(d), of_type(a), of_type(b), of_type(scale)};
}

/// The shape of the narrow sum (arithmetic/narrow_fused_sum.h) that models an instruction on an architecture (a bit of
/// namespace arch); k = 0: there is none. Where several rows of narrow_shapes.def.h have the same types, WMMA takes the
/// first (its steps are shorter than its k), mma.sync the last, wgmma the last that is not emulated.
MMAFUZZ_HD constexpr NarrowShape narrow_shape_on(unsigned device_arch, const TileShape& shape,
                                                 const InstructionTypes& types) {
  NarrowShape found;
#define ROW(of_kernel, products, of_block, of_a, of_b, of_scale, archs)                               \
  if (((archs)&device_arch) && products == shape.k && narrow_shapes::of_type(#of_a) == types.a &&     \
      narrow_shapes::of_type(#of_b) == types.b && narrow_shapes::of_type(#of_scale) == types.scale && \
      !(shape.family == TileFamily::wmma && found.k != 0) &&                                          \
      !(shape.family == TileFamily::wgmma && traits_of(Kernel::of_kernel).widens_to_fp16()))          \
    found = {Kernel::of_kernel, products, of_block, types.a, types.b, types.scale};
  MMAFUZZ_NARROW(ROW)
#undef ROW
  return found;
}

enum class ClaimKind : uint8_t { fused, grouped, integer, chain };
MMAFUZZ_HD constexpr ClaimKind claim_kind(const TileShape& shape, const InstructionTypes& types) {
  if (shape.scales > 1) return ClaimKind::grouped;
  if (types.a.integer) return ClaimKind::integer;
  return types.a.width == 64 ? ClaimKind::chain : ClaimKind::fused;
}

/// The claim of an instruction `I` with members shape and types, as a std::type_identity. (g++ 12 fails on the code
/// that nvcc makes of values as template arguments.)
template <class I, NarrowShape narrow>
constexpr auto find_claim() {
  constexpr InstructionTypes types = I::types;
  constexpr ClaimKind kind = claim_kind(I::shape, types);
  if constexpr (kind == ClaimKind::grouped)
    return std::type_identity<GroupedClaim<types.a, types.scale, I::shape.k / I::shape.scales>>{};
  else if constexpr (kind == ClaimKind::integer)
    return std::type_identity<IntegerClaim<types.a, types.d, I::shape.k>>{};
  else if constexpr (kind == ClaimKind::chain) return std::type_identity<ChainClaim<I::shape.k>>{};
  else return std::type_identity<FusedClaim<narrow, types.d.width == 16>>{};
}
template <class I, NarrowShape narrow>
using ClaimOf = typename decltype(find_claim<I, narrow>())::type;

/// Whether a sweep against this model can run in panels on the architecture: the claim must compute the model's
/// results. Four matrices side by side (m8n8k4 of fp16) never run in panels, because theirs would have another shape.
inline bool claim_fits(unsigned device_arch, const TileShape& shape, const InstructionTypes& types,
                       const DotModel& model) {
  if (shape.matrices != 1) return false;
  switch (claim_kind(shape, types)) {
    case ClaimKind::grouped: return decoded_groups_fit(types.scale, shape.k / shape.scales, model, shape.k);
    case ClaimKind::integer: return model.d.integer && model.a == types.a && model.b == types.a;
    case ClaimKind::chain: return decoded_chain_fits(model, shape.k);
    case ClaimKind::fused: break;
  }
  const NarrowShape narrow = narrow_shape_on(device_arch, shape, types);
  return narrow.k != 0 && narrow_fits(narrow, model, shape.k);
}

}  // namespace mmafuzz::sweep
