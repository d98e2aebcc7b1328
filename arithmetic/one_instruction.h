// What the domains of kernels over one dot share (arithmetic/kernels/README.md).
#pragma once

#include "arithmetic/trace.h"

namespace mmafuzz {

/// One instruction of one dot: the common base of the domains. c is an encoding of c_format; `first_index` is the index
/// of the instruction's first product in the whole dot. All references must outlive the object.
template <class Trace>
class OneInstruction {
 public:
  using Code = uint64_t;

  MMAFUZZ_HD OneInstruction(const DotModel& m, const DotOperands& in, int first_index, const FormatFields& c_format,
                            Trace& trace, Step& step)
      : m_(m), in_(in), first_index_(first_index), c_format_(c_format), trace_(trace), step_(step) {}

  MMAFUZZ_HD const DotModel& model() const { return m_; }
  MMAFUZZ_HD void begin_block(int block) const {
    if constexpr (Trace::enabled) step_.block = block;
  }

 protected:
  /// The format of the instruction's own c, or of the result of the block before.
  MMAFUZZ_HD const FormatFields& c_format(bool c_is_operand) const { return c_is_operand ? c_format_ : m_.d; }

  const DotModel& m_;
  const DotOperands& in_;
  int first_index_;
  FormatFields c_format_;
  Trace& trace_;
  Step& step_;
};

}  // namespace mmafuzz
