// The truncated fused sum on many dots at once (Highway), for rows of the plain form: no scales; fp32 results
// toward zero or fp16 results to nearest even. Few dots go through the scalar kernel.
#pragma once

#include "arithmetic/dot_model.h"
#include "core/batch.h"
#include "core/dot_grid.h"

namespace mmafuzz {

/// Products of the instruction sequence that a dot of k runs as, its padding included.
inline int sequence_k(const DotModel& m, int k) { return (k + m.k - 1) / m.k * m.k; }

class FusedSumSimd {
 public:
  explicit FusedSumSimd(const DotModel& model) : model_(model) {}

  /// Whether the vector kernel computes this row for dots of k products; the scalar kernel computes every row.
  static bool supports(const DotModel& model, int k);

  /// results must have batch.size() entries.
  void run(const Batch& batch, Column& results) const;

  /// The dots of k products of a grid. False, and nothing done, where the calling thread's floating point is not IEEE
  /// 754's: infinities and NaNs go through it.
  bool run_grid(int k, const DotGrid& grid) const;

 private:
  DotModel model_;
};

/// The instruction set that run() uses on this machine, as Highway names it.
const char* simd_target_name();

}  // namespace mmafuzz
