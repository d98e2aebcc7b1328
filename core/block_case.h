// One case of an op on blocks (docs/quantizers.md): numbers become one scale and a code for each, or codes become
// numbers.
#pragma once

#include "arithmetic/quantize_block.h"
#include "core/batch.h"

namespace mmafuzz {

/// The tensor's scale of a case, the last input; 1 where the op has none.
inline Number tensor_scale_of(const Batch& batch, size_t index) {
  const Op& op = batch.op();
  return op.has_tensor_scale() ? decode(op.scale_b.fields(), batch.inputs().back().get(index)) : one_as_number();
}

/// Quantizes the cases of a batch of one op. A block's scale follows from amax, the greatest magnitude among its
/// finite numbers.
class QuantizedBlock {
 public:
  explicit QuantizedBlock(const Op& op)
      : op_(op), rule_(op.block_rule()), step_(scale_step(op.scale_rule, op.d.fields())) {}

  /// Writes the scale of case `index` to element 0 of `results` and the codes to elements 1 to k. False where the block
  /// has no usable scale (load()): then every code is zero.
  bool run(const Batch& batch, size_t index, Column& results) {
    const bool has_number = load(batch, index);
    results.set(index, 0, scale_code_);
    for (int i = 0; i < op_.k; ++i) results.set(index, 1 + i, has_number ? element(batch, index, i).encoding : 0);
    return has_number;
  }
  /// The scale's encoding alone.
  uint64_t scale(const Batch& batch, size_t index) {
    load(batch, index);
    return scale_code_;
  }
  /// The code of element `i` under a scale of any encoding; a zero where that is NaN.
  Rounded code_under(uint64_t scale, const Batch& batch, size_t index, int i) {
    tensor_ = tensor_scale_of(batch, index);
    scale_ = decode(op_.scale_a.fields(), scale);
    return scale_.cls == NumberClass::nan ? Rounded() : element(batch, index, i);
  }
  /// Calls `rounded` with the result of rounding each element; not at all where the block has no usable scale.
  template <class See>
  void observe(const Batch& batch, size_t index, See rounded) {
    if (!load(batch, index)) return;
    for (int i = 0; i < op_.k; ++i) rounded(element(batch, index, i));
  }

 private:
  /// Finds the scales of case `index`. False where there is no usable one: the scale is written as NaN, or as the
  /// greatest number of a format without NaN.
  bool load(const Batch& batch, size_t index) {
    const FormatFields &source = op_.a.fields(), &scale = op_.scale_a.fields();
    Number amax;
    bool special = false;
    uint64_t greatest = 0;
    for (int i = 0; i < op_.k; ++i) {
      const uint64_t encoding = batch.inputs()[0].get(index, i);
      const Number x = decode(source, encoding);
      if (!is_number(x.cls)) {
        special = true;
        continue;
      }
      const uint64_t magnitude = encoding & ~source.in_container(source.sign_bit());  // ordered as the numbers are
      if (magnitude < greatest || x.cls == NumberClass::zero) continue;
      greatest = magnitude;
      amax = x;
      amax.negative = false;
    }
    tensor_ = tensor_scale_of(batch, index);
    const bool usable = tensor_.cls == NumberClass::finite && !tensor_.negative;
    if (!usable || (special && rule_.specials == BlockSpecials::nan_scale)) {
      scale_code_ = scale.has_nan() ? scale.encode_nan() : scale.encode_greatest(false);
      return false;
    }
    scale_code_ = block_scale(rule_, step_, op_.d.fields(), scale, amax, tensor_);
    scale_ = decode(scale, scale_code_);
    return scale_.cls != NumberClass::nan;
  }
  Rounded element(const Batch& batch, size_t index, int i) const {
    const uint64_t encoding = batch.inputs()[0].get(index, i);
    RoundingRule rule = rule_.elements;
    if (rule.rounding == Rounding::stochastic) rule.random = op_.rounding_rule_of(encoding).random;
    return block_element(op_.d.fields(), decode(op_.a.fields(), encoding), scale_, tensor_, rule);
  }

  const Op op_;
  BlockRule rule_;
  ScaleStep step_;
  Number tensor_, scale_;
  uint64_t scale_code_ = 0;
};

/// Writes the k numbers of case `index`: code * scale * the tensor's scale (1 where the op has none), rounded once.
inline void dequantize_case(const Batch& batch, size_t index, Column& results) {
  const Op& op = batch.op();
  const Number scale = decode(op.scale_a.fields(), batch.inputs()[1].get(index));
  const Number tensor = tensor_scale_of(batch, index);
  const RoundingRule rule = op.rounding_rule();
  for (int i = 0; i < op.k; ++i)
    results.set(index, i,
                scaled_element(op.a.fields(), batch.inputs()[0].get(index, i), scale, tensor, op.d.fields(), rule));
}

}  // namespace mmafuzz
