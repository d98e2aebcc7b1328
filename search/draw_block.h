// Blocks on which quantizers differ. A quantizer scales a block of k elements by a scale that it derives from amax, the
// block's greatest magnitude, and rounds each element to a code. Here amax is at a step, a value where the scale
// changes, and the other elements are at boundaries, codes or middles between two codes.
#pragma once

#include <vector>

#include "arithmetic/counter_rng.h"
#include "core/block_case.h"

namespace mmafuzz {

/// The steps of an op's scale, as values of amax, for all rules that make scales of its format.
class BlockSteps {
 public:
  explicit BlockSteps(const Op& op);

  /// The number of steps: one for each rule and power of two; where the scale's format has fraction bits, one for each
  /// number of it and each middle between two, or of a format wider than 16 bits one for each power of two.
  uint64_t count() const { return count_; }
  /// The encoding of amax at step `n` modulo count() under a tensor's scale, moved up by `moved` encodings of the
  /// source format; within its range.
  uint64_t at(uint64_t n, int moved, const Number& tensor = one_as_number()) const;

 private:
  FormatFields from_, scale_;
  std::vector<ScaleStep> steps_;
  Number greatest_;
  int first_exponent_ = 0;
  uint64_t exponents_ = 0, count_ = 0;
};

/// Draws a block over case `index` of a quantize op.
void draw_block(const Op& op, CounterRng& rng, Batch& batch, size_t index);

/// Draws codes and scales over case `index` of a dequantize op.
void draw_codes(const Op& op, CounterRng& rng, Batch& batch, size_t index);

/// Writes boundaries to the lanes other than `kept`, for a block whose greatest magnitude is `amax`: boundary number
/// `first` and following of the element's format, each moved up by `moved` encodings of the source format.
void set_boundaries(const Op& op, uint64_t amax, int kept, uint64_t first, int moved, Batch& batch, size_t index);

/// Makes all elements of case `index` of a quantize op +0, under a tensor's scale of 1.
void clear_block(Batch& batch, size_t index);

/// The number of boundaries of the element's format: its magnitudes and the middles between two.
uint64_t boundaries_of(const FormatFields& element);

}  // namespace mmafuzz
