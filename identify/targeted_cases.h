// Cases on which a parameter of a row shows, if any case shows it: made from the row itself, so that few are needed
// where a search that knows nothing of it needs millions.
#pragma once

#include "arithmetic/counter_rng.h"
#include "arithmetic/dot_model.h"
#include "core/batch.h"

namespace mmafuzz {

/// Each case puts the greatest exponent of one step where the row does something of its own (at its floor, at the ends
/// of the result's range, anywhere), the other addends at or around the limits of its alignment, and often chooses c so
/// that the sum, in units of the adder's last bit, is a power of two, a tie or beside one.
class TargetedCases {
 public:
  /// Of a dot of floating-point formats.
  TargetedCases(const Op& op, const DotModel& row, uint64_t seed) : op_(op), row_(row), seed_(seed) {}

  /// Case `number`, written over case `index`.
  void make(uint64_t number, Batch& batch, size_t index) const;

 private:
  Op op_;
  DotModel row_;
  uint64_t seed_;
};

}  // namespace mmafuzz
