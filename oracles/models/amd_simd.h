// AMD's matrix cores on many dots at once: exact sums (CDNA1), trees of IEEE operations (CDNA2) and two-stage sums
// (CDNA3) in the host's floating point, for rows that embed in fp32 and give fp32. Rare dots go through the scalar
// kernel.
#pragma once

#include "arithmetic/dot_model.h"
#include "core/batch.h"

namespace mmafuzz {

/// Products of the instruction sequence that a dot of k runs as, its padding included.
inline int sequence_k(const DotModel& m, int k) { return (k + m.k - 1) / m.k * m.k; }

class AmdSimd {
 public:
  explicit AmdSimd(const DotModel& model) : model_(model) {}

  /// Whether the vector kernels compute this row for dots of k products; the scalar kernels compute every row.
  static bool supports(const DotModel& model, int k);

  /// results must have batch.size() entries. False, with nothing written: this processor has no fused multiply-add, or
  /// the calling thread's floating-point environment is not the default one.
  bool run(const Batch& batch, Column& results) const;

 private:
  DotModel model_;
};

}  // namespace mmafuzz
