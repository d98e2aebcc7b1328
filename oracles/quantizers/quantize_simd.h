// Blocks of fp32 or bf16 numbers quantized in vectors (Highway): scales of powers of two, elements of at most 8 bits
// rounded to nearest even. What it leaves out is the caller's.
#pragma once

#include <vector>

#include "arithmetic/quantize_block.h"
#include "core/batch.h"

namespace mmafuzz {

class QuantizeSimd {
 public:
  static bool supports(const Op& op);
  explicit QuantizeSimd(const Op& op);

  /// Writes scales and codes to `results`. Returns the cases that it left out: with an infinity or NaN, or of such a
  /// scale that its reciprocal is no normal number.
  std::vector<size_t> run(const Batch& batch, Column& results) const;

  /// The scale of a block whose greatest magnitude is that fp32 encoding, which is finite.
  uint64_t scale_of(uint32_t amax) const;

 private:
  FormatFields scale_;
  ScaleStep step_;
};

}  // namespace mmafuzz
