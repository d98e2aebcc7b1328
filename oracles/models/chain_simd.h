// Chains of IEEE operations on many dots at once, in the host's floating point: fma_chain in fp32 and fp64 and
// fma_then_add, rounded to nearest even.
#pragma once

#include "arithmetic/dot_model.h"
#include "core/batch.h"

namespace mmafuzz {

class ChainSimd {
 public:
  explicit ChainSimd(const DotModel& model);

  /// Whether vector code computes this row; the scalar kernels compute every row.
  bool supported() const { return is_fp32_ || is_fp64_; }

  /// results must have batch.size() entries. False, and nothing done, where the row is not supported, this processor
  /// has no fused multiply-add, or the calling thread's floating-point environment is not the default one.
  bool run(const Batch& batch, Column& results) const;

 private:
  DotModel model_;
  bool is_fp32_, is_fp64_;
};

}  // namespace mmafuzz
