// x86's instructions between numbers and integers, and its comparisons that set the processor's flags.
#pragma once

#include <vector>

#include "core/unit.h"
#include "core/result.h"
#include "oracles/units/mxcsr.h"

namespace mmafuzz {

/// One instruction under MXCSR: operands as encodings, the result and the flags that it raised.
using CpuFunction = CpuAnswer (*)(uint32_t mode, const uint64_t* operands);

struct CpuIntegerInstruction {
  const char* name;     ///< of the unit
  const char* summary;  ///< the instruction
  bool (*present)();
  const char* feature;
  const char* op;  ///< what it takes, as the beginning of an op line
  CpuFunction run;
  CpuFunction run_silently = nullptr;  ///< with inexact=0, where it has that
  bool truncates = false;              ///< takes round=toward_zero alone
};

/// The rows; on another machine they are listed, and absent.
const std::vector<CpuIntegerInstruction>& cpu_integer_instructions();

/// The row as a unit for `op`, or why not.
Result<std::unique_ptr<Unit>> bind_cpu_integer(const CpuIntegerInstruction& row, const Op& op);

}  // namespace mmafuzz
