// Many dots at once in the host's floating point: fma_chain and ieee_tree in fp32 and fp64, and in fp32 fma_then_add,
// exact_sum, sum_then_add and two_stage_sum, rounded to nearest even; ieee_tree in fp32 also to odd.
#pragma once

#include "arithmetic/dot_model.h"
#include "core/batch.h"

namespace mmafuzz {

class HostFloatSimd {
 public:
  explicit HostFloatSimd(const DotModel& model);

  /// Whether vector code computes this row; the scalar kernels compute every row.
  bool supported() const { return is_supported_; }

  /// results must have batch.size() entries. False, and nothing done, where the row is not supported, this processor
  /// has no fused multiply-add, or the calling thread's floating-point environment is not the default one.
  bool run(const Batch& batch, Column& results) const;

 private:
  DotModel model_;
  bool is_supported_;
};

}  // namespace mmafuzz
