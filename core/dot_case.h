// One dot case unpacked from a batch's columns, for code that evaluates case by case.
#pragma once

#include "arithmetic/dot_model.h"
#include "core/batch.h"

namespace mmafuzz {

/// The operands of one dot case as 64-bit encodings. load() overwrites those of the case before.
class DotCase {
 public:
  explicit DotCase(const Op& op)
      : a_(size_t(op.k)), b_(size_t(op.k)), scale_a_(size_t(op.scales())), scale_b_(size_t(op.scales())) {}

  const DotOperands& load(const Batch& batch, size_t index) {
    batch.a().unpack(index, a_.data());
    batch.b().unpack(index, b_.data());
    operands_.a = a_.data();
    operands_.b = b_.data();
    operands_.c = batch.c().get(index);
    operands_.k = batch.op().k;
    if (batch.op().has_scales()) {
      batch.scale_a().unpack(index, scale_a_.data());
      batch.scale_b().unpack(index, scale_b_.data());
      operands_.scale_a = scale_a_.data();
      operands_.scale_b = scale_b_.data();
    }
    return operands_;
  }

 private:
  std::vector<uint64_t> a_, b_, scale_a_, scale_b_;
  DotOperands operands_;
};

}  // namespace mmafuzz
