// The exact dot on many cases at once, in the host's fp64: dots whose operands embed in fp32, with or without scales,
// and whose result has at most 50 bits. A dot whose exact sum does not fit in two fp64 numbers is computed by FastDot.
#pragma once

#include "core/batch.h"
#include "oracles/exact/exact_dot.h"

namespace mmafuzz::exact {

class ExactDotSimd {
 public:
  explicit ExactDotSimd(const Op& op);

  static bool supports(const Op& op);

  /// results must have batch.size() entries. False, with nothing written: this processor has no fused multiply-add, or
  /// the calling thread's floating-point environment is not the default one.
  bool run(const Batch& batch, Column& results) const;

  /// A dot's encoding from its exact value rounded to odd in fp64.
  uint64_t finish(double odd) const;

 private:
  FormatFields d_;
  RoundingRule rule_;
  FastDot one_by_one_;
};

}  // namespace mmafuzz::exact
