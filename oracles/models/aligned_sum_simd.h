// The kernels of aligned sums on many dots at once (Highway): fused_sum, grouped_sum, emulated_fp8, floored_sum and
// bulk_normalized.
#pragma once

#include "core/batch.h"
#include "core/dot_grid.h"
#include "oracles/lanes/aligned_rows.h"

namespace mmafuzz {

class AlignedSumSimd {
 public:
  explicit AlignedSumSimd(const DotModel& model) : row_(aligned_row(model)) {}

  /// Whether vector code computes this row; the scalar kernel computes every row.
  bool supported() const { return row_.has_value(); }

  /// results must have batch.size() entries. False, and nothing done, where the row is not supported, or needs the
  /// host's floating point and the calling thread's is not IEEE 754's.
  bool run(const Batch& batch, Column& results) const;

  /// The same for the dots of k products of a grid; it also returns false for rows with scales or a c not of d's
  /// format.
  bool run_grid(int k, const DotGrid& grid) const;

 private:
  std::optional<AlignedRow> row_;
};

/// The instruction set that run() uses on this machine, as Highway names it.
const char* simd_target_name();

}  // namespace mmafuzz
