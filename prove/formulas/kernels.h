// The formula of one instruction of each kernel. c has a format of its own: that of the row in the first instruction of
// a dot, that of d in a later one.
#pragma once

#include "prove/formula.h"

namespace mmafuzz::prove {

Result<bool> fused_sum_covers(const DotModel& model);
Formula fused_sum(const DotModel& model, const Operands& operands, const FormatFields& c_format);

Result<bool> grouped_sum_covers(const DotModel& model);
Formula grouped_sum(const DotModel& model, const Operands& operands, const FormatFields& c_format);

Result<bool> emulated_fp8_covers(const DotModel& model);
Formula emulated_fp8(const DotModel& model, const Operands& operands, const FormatFields& c_format);

Result<bool> exact_sum_covers(const DotModel& model);
Formula exact_sum(const DotModel& model, const Operands& operands, const FormatFields& c_format);

Result<bool> two_stage_covers(const DotModel& model);
Formula two_stage_sum(const DotModel& model, const Operands& operands, const FormatFields& c_format);

/// Of the three kernels below.
Result<bool> ieee_kernel_covers(const DotModel& model);
Formula ieee_tree(const DotModel& model, const Operands& operands, const FormatFields& c_format);
Formula fma_chain(const DotModel& model, const Operands& operands, const FormatFields& c_format);
Formula fma_then_add(const DotModel& model, const Operands& operands, const FormatFields& c_format);

}  // namespace mmafuzz::prove
