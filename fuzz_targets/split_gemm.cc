// split_gemm: SGEMM from slices and from error-corrected halves. A contract failure is that of ozaki_dgemm, or a tile permutation that
// changes a corrected product.
#include "fuzz_targets/property_target.h"

std::unique_ptr<mmafuzz::Target> mmafuzz::make_target(const TargetOptions& options) {
  return std::make_unique<PropertyTarget>(options, gemm_ops("fp32"), [](std::string_view) { return true; });
}
