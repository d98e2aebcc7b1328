// The truncated fused sum on many dots at once (Highway), for rows of the plain form: no scales; fp32 results
// toward zero or fp16 results to nearest even. Dots that meet an infinity or NaN go through the scalar kernel.
#pragma once

#include "arithmetic/dot_model.h"
#include "core/batch.h"

namespace mmafuzz {

class FusedSumSimd {
 public:
  explicit FusedSumSimd(const DotModel& model) : model_(model) {}

  /// Whether the vector kernel computes this row; the scalar kernel computes every row.
  static bool supports(const DotModel& model);

  /// results must have batch.size() entries; the op's k is at most the row's.
  void run(const Batch& batch, Column& results) const;

 private:
  DotModel model_;
};

/// The instruction set that run() uses on this machine, as Highway names it.
const char* simd_target_name();

}  // namespace mmafuzz
