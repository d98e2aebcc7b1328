// Blocks where quantizers differ: the greatest magnitude on a step of the scale, the others between two codes.
#pragma once

#include <vector>

#include "arithmetic/counter_rng.h"
#include "core/block_case.h"

namespace mmafuzz {

/// Where the scale of an op steps for the rules that give scales of its format, as values of amax.
class BlockSteps {
 public:
  explicit BlockSteps(const Op& op);

  /// How many steps there are: of each rule every power of two, or of a format with a fraction every number and every
  /// middle between two.
  uint64_t count() const { return count_; }
  /// amax at step `n` under a tensor's scale, moved by so many encodings of the source; within the source's range.
  uint64_t at(uint64_t n, int moved, const Number& tensor = detail::one_as_number()) const;

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

/// Writes to lanes other than `kept` numbers between two codes of a block of that greatest magnitude: boundary `first`
/// and following of the element's format, moved by so many encodings.
void set_boundaries(const Op& op, uint64_t amax, int kept, uint64_t first, int moved, Batch& batch, size_t index);

/// How many boundaries the element's format has: its numbers and the middles between two.
uint64_t boundaries_of(const FormatFields& element);

}  // namespace mmafuzz
