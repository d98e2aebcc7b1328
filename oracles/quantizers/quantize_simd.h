// A fast path of quantize: blocks of fp32, bf16 or fp16 numbers become elements of at most 8 bits, rounded to nearest
// even. Where scales are powers of two, this runs in vectors (Highway), otherwise in fp64, number by number. The caller
// quantizes the cases that run() leaves out.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/block_case.h"
#include "oracles/convert/bulk_convert_simd.h"

namespace mmafuzz {

class QuantizeSimd {
 public:
  static bool supports(const Op& op);
  explicit QuantizeSimd(const Op& op);

  /// Writes scales and codes to `results`. Returns the indices of the cases that it left out: those with an infinity or
  /// NaN, and those whose scale is zero, or a power of two whose reciprocal is no normal fp32 number.
  std::vector<size_t> run(const Batch& batch, Column& results) const;

  // What follows is for the vector code of quantize_simd.cc.
  struct Scale {
    uint64_t code;
    double divisor;  ///< the scale times the tensor's; 0 if scales are powers of two
  };
  /// The scale of a block whose greatest magnitude is `amax`, a finite number in fp32's encoding. Where scales
  /// are not powers of two: nullopt if the scale is zero or not finite, or the tensor's not a positive finite number.
  std::optional<Scale> scale_of(uint32_t amax, uint64_t tensor_code) const;
  /// The table from encodings of a 16-bit source to fp32; nullptr where the source is fp32.
  const WideningTable* widening() const { return widening_.get(); }

 private:
  BlockRule rule_;
  FormatFields element_, scale_, tensor_;
  ScaleStep step_;  ///< the amax from which on a scale that is a power of two is 1 (arithmetic/quantize_block.h)
  std::shared_ptr<const WideningTable> widening_;
};

}  // namespace mmafuzz
