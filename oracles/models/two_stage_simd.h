// Two-stage sums (CDNA3) of many dots at once in the host's floating point, for rows that embed in fp32 and give fp32.
#pragma once

#include "arithmetic/dot_model.h"
#include "core/batch.h"

namespace mmafuzz {

/// Products of the instruction sequence that a dot of k runs as, its padding included.
inline int sequence_k(const DotModel& m, int k) { return (k + m.k - 1) / m.k * m.k; }

class TwoStageSimd {
 public:
  explicit TwoStageSimd(const DotModel& model) : model_(model) {}

  /// Whether the vector kernels compute this row for dots of k products; the scalar kernels compute every row.
  static bool supports(const DotModel& model, int k);

  /// results must have batch.size() entries. False, with nothing written: this processor has no fused multiply-add, or
  /// the calling thread's floating-point environment is not the default one.
  bool run(const Batch& batch, Column& results) const;

 private:
  DotModel model_;
};

}  // namespace mmafuzz
