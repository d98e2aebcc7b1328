// The same dot products on many cases at once with the host's own IEEE operations, where those are the op's: results in
// fp32 from formats that embed in it, with or without scales, in fp16, or fp64 throughout, rounded to nearest even.
#pragma once

#include <utility>
#include <vector>

#include "core/batch.h"
#include "oracles/ieee/ieee_dot.h"

namespace mmafuzz {

struct IeeeOrder {
  DotOrder order;
  std::vector<std::pair<int, int>> additions;  ///< pairwise: product first += product second, in this order
};

class IeeeDotSimd {
 public:
  /// `op` is one that supports() accepts, or run() is not called.
  IeeeDotSimd(const Op& op, DotOrder order);

  static bool supports(const Op& op);

  /// results must have batch.size() entries. False, with nothing written: this processor has no fused multiply-add, or
  /// the calling thread's floating-point environment is not the default one.
  bool run(const Batch& batch, Column& results) const;

 private:
  IeeeOrder order_;
};

}  // namespace mmafuzz
