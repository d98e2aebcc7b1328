// The dot products of ieee_dot.h on many cases at once with the host's own IEEE operations, for ops rounded to nearest
// even: results in fp32 from formats that embed in it, with or without scales, results in fp16, or fp64 throughout.
#pragma once

#include <utility>
#include <vector>

#include "core/batch.h"
#include "oracles/ieee/ieee_dot.h"

namespace mmafuzz {

struct IeeeOrder {
  DotOrder order;
  std::vector<std::pair<int, int>> additions;  ///< of pairwise, in order: (i, j) adds product j to product i
};

class IeeeDotSimd {
 public:
  /// run() may only be called if supports(op).
  IeeeDotSimd(const Op& op, DotOrder order);

  static bool supports(const Op& op);

  /// results must have batch.size() entries. False, with nothing written: this processor has no fused multiply-add, or
  /// the calling thread's floating-point environment is not the default one.
  bool run(const Batch& batch, Column& results) const;

 private:
  IeeeOrder order_;
};

}  // namespace mmafuzz
