// The CUDA-core instructions that device units run: which op each row takes.
#pragma once

#include <string>
#include <vector>

#include "core/op.h"
#include "gpu_bridge/instructions/core_instructions.def.h"

namespace mmafuzz {

/// Where a row equals IEEE 754's result, of .relu before negative numbers become +0.
enum class IeeeClaim : uint8_t { none, no_nans, all };

struct CoreInstruction {
  std::string unit;  ///< what follows `cuda:`, e.g. "add.f32"; rows of one unit differ in rounding, ftz or saturate
  Op op;
  IeeeClaim claim = IeeeClaim::none;
  unsigned archs = 0;  ///< bits of namespace arch
  std::string ptx;

  bool relu() const { return ptx.find(".relu") != std::string::npos; }
};

/// The unit that a row is compared with.
const char* reference_of(const CoreInstruction& instruction);

/// Whether a row claims to. The approximations do not, and of `cvt.ftz` to fp16 only the operand is flushed, where an
/// op with ftz=1 flushes the result, too.
bool equals_its_reference(const CoreInstruction& instruction);

/// In the order of the kernels' launch table.
const std::vector<CoreInstruction>& core_instructions();

/// Whether any row is of this unit.
bool is_core_unit(std::string_view unit);

/// The row of a unit that does what the op asks for, -1 if there is none.
int find_core_instruction(std::string_view unit, const Op& op);

}  // namespace mmafuzz
