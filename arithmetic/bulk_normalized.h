// The domain of kernels/bulk_normalized-inl.h for one dot at a time: that of the fused sums, and that of the sums which
// c joins last.
#pragma once

#include "arithmetic/exact_sum.h"
#include "arithmetic/fused_sum.h"

namespace mmafuzz {

template <class Trace>
class OneNormalizedDot {
 public:
  using Code = uint64_t;

  MMAFUZZ_HD OneNormalizedDot(const DotModel& m, const DotOperands& in, int first_index, const FormatFields& c_format,
                              Trace& trace, Step& step)
      : products_(m, in, first_index, c_format, trace, step), sums_(m, in, first_index, c_format, trace, step) {}

  MMAFUZZ_HD const DotModel& model() const { return sums_.model(); }
  MMAFUZZ_HD void begin_block(int block) const { sums_.begin_block(block); }
  MMAFUZZ_HD const OneDot<Trace>& products_alone() const { return products_; }
  MMAFUZZ_HD uint64_t added(bool is_own, uint64_t c, uint64_t sum) const { return sums_.added(is_own, c, sum); }

 private:
  OneDot<Trace> products_;
  OneExactDot<Trace> sums_;
};

#define MMAFUZZ_KERNEL MMAFUZZ_HD_CALL
#include "arithmetic/kernels/bulk_normalized-inl.h"
#undef MMAFUZZ_KERNEL

}  // namespace mmafuzz
