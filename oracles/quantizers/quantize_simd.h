// Blocks of fp32, bf16 or fp16 numbers quantized fast, elements of at most 8 bits rounded to nearest even: under scales
// of powers of two in vectors (Highway), under others in fp64. The caller quantizes the cases that run() leaves out.
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

  struct Scale {
    uint64_t code;
    double divisor;  ///< the scale times the tensor's; 0 if scales are powers of two
  };
  /// The scale of a block whose greatest magnitude is that fp32 encoding, which is finite; nullopt where no number can
  /// be divided by it or by the tensor's scale.
  std::optional<Scale> scale_of(uint32_t amax, uint64_t tensor_code) const;
  /// fp32 of a narrower source; nullptr where the source is fp32.
  const WideningTable* widening() const { return widening_.get(); }

 private:
  BlockRule rule_;
  FormatFields element_, scale_, tensor_;
  ScaleStep step_;
  std::shared_ptr<const WideningTable> widening_;
};

}  // namespace mmafuzz
