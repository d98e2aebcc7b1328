// Cases on which a row with another value of a parameter gives another result, if there is any such case. They are made
// from the row itself, so that few are needed where a search that does not know the row needs millions.
#pragma once

#include "arithmetic/counter_rng.h"
#include "arithmetic/dot_model.h"
#include "core/batch.h"

namespace mmafuzz {

/// A case puts the greatest exponent of a step at the row's alignment floor, at the ends of the result's range or
/// anywhere, and the other addends near the limits of the alignment. Often it chooses c so that the sum, in units of
/// the adder's last bit, is a power of two, a tie, or next to one.
class TargetedCases {
 public:
  /// `op` is a dot of floating-point formats.
  TargetedCases(const Op& op, const DotModel& row, uint64_t seed) : op_(op), row_(row), seed_(seed) {}

  /// Writes case `number` over case `index` of the batch.
  void make(uint64_t number, Batch& batch, size_t index) const;

 private:
  Op op_;
  DotModel row_;
  uint64_t seed_;
};

}  // namespace mmafuzz
