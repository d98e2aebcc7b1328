// Draws operands on which similar models differ (alignment limits, cancellation, range ends, specials), not uniform
// bits: uniform fp16 bits give an infinity or NaN in 64 % of k=16 dots.
#pragma once

#include "core/batch.h"

namespace mmafuzz {

class StructuredGenerator {
 public:
  StructuredGenerator(const Op& op, uint64_t seed) : op_(op), seed_(seed) {}

  /// Writes cases first .. first+count-1 of the stream into batch (resized). Case i depends on op, seed and i alone.
  void fill(uint64_t first, size_t count, Batch& batch) const;

  /// Writes case `number` of the stream over case `index` of a batch, which already has it.
  void draw(uint64_t number, Batch& batch, size_t index) const;

 private:
  Op op_;
  uint64_t seed_;
};

}  // namespace mmafuzz
