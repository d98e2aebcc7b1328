// ozaki_dgemm: DGEMM from narrow slices, one plan and unit at a time. A contract failure means that a slice product was not exact, that
// a correctly rounded plan differs from the exact result, that an element lies beyond the scheme's proven bound, that a permutation of
// tiles or of the products along k changed a bit, or that an infinity, a NaN or a zero's sign was lost (docs/ozaki.md).
#include "fuzz_targets/property_target.h"

std::unique_ptr<mmafuzz::Target> mmafuzz::make_target(const TargetOptions& options) {
  return std::make_unique<PropertyTarget>(options, gemm_ops("fp64"), [](std::string_view) { return true; });
}
