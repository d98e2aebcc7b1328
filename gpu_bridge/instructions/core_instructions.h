// The CUDA-core instructions that device units run: which op each row takes.
#pragma once

#include <string>
#include <vector>

#include "core/op.h"
#include "gpu_bridge/instructions/core_instructions.def.h"

namespace mmafuzz {

/// On which cases a row's result is IEEE 754's (of .relu: before negative numbers become +0): none, those without NaN
/// operands, all.
enum class IeeeClaim : uint8_t { none, no_nans, all };

struct CoreInstruction {
  std::string unit;  ///< what follows `cuda:`, e.g. "add.f32"; rows of one unit differ in rounding, ftz or saturate
  Op op;
  IeeeClaim claim = IeeeClaim::none;
  unsigned archs = 0;  ///< architectures that have it: bits of namespace arch
  std::string ptx;     ///< the instruction, or .rn or nothing for a row of two_roundings

  bool relu() const { return ptx.find(".relu") != std::string::npos; }
};

/// The name of the unit that a row is compared with: ieee, or an adaptation of it.
const char* reference_of(const CoreInstruction& instruction);

/// Whether a row claims to equal reference_of(). Rows with IeeeClaim::none do not, and neither does `cvt.ftz` to fp16,
/// which flushes the operand alone: an op with ftz=1 flushes the result, too.
bool equals_its_reference(const CoreInstruction& instruction);

/// All rows, in the order of the launch table of kernels/core.cu. An index counts from 0.
const std::vector<CoreInstruction>& core_instructions();

/// Whether any row is of this unit.
bool is_core_unit(std::string_view unit);

/// The index of the row of a unit with the op's operation, formats, rounding, ftz and saturate; -1 if there is none.
int find_core_instruction(std::string_view unit, const Op& op);

}  // namespace mmafuzz
