// The domain of kernels/bulk_normalized-inl.h for one dot at a time: a OneDot sums the products of a block alone, and
// the base class OneExactDot adds c.
#pragma once

#include "arithmetic/exact_sum.h"
#include "arithmetic/fused_sum.h"

namespace mmafuzz {

template <class Trace>
class OneNormalizedDot : public OneExactDot<Trace> {
 public:
  MMAFUZZ_HD OneNormalizedDot(const DotModel& m, const DotOperands& in, int first_index, const FormatFields& c_format,
                              Trace& trace, Step& step)
      : OneExactDot<Trace>(m, in, first_index, c_format, trace, step),
        products_(m, in, first_index, c_format, trace, step) {}

  MMAFUZZ_HD const OneDot<Trace>& products_alone() const { return products_; }

 private:
  OneDot<Trace> products_;
};

#define MMAFUZZ_KERNEL MMAFUZZ_HD_CALL
#include "arithmetic/kernels/bulk_normalized-inl.h"
#undef MMAFUZZ_KERNEL

}  // namespace mmafuzz
