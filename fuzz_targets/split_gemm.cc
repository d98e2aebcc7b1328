// split_gemm: SGEMM from slices and from error-corrected halves. A contract failure is that of ozaki_dgemm, or a tile permutation that
// changes a corrected product; where the methods differ from each other and from the exact result is knowledge.
#include "fuzz_targets/comparing_target.h"
#include "oracles/default_fields.h"

std::unique_ptr<mmafuzz::Target> mmafuzz::make_target(const TargetOptions& options) {
  return std::make_unique<ComparingTarget>(options, gemm_ops("fp32"));
}
