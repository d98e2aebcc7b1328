// The CUDA-core instructions that device units run: which op each row takes.
#pragma once

#include <string>
#include <vector>

#include "core/op.h"
#include "gpu_bridge/instructions/core_instructions.def.h"

namespace mmafuzz {

/// Where a row equals IEEE 754's result; relu: where that is no negative number and no -0, and +0 for a negative
/// number.
enum class IeeeClaim : uint8_t { none, no_nans, relu, all };

/// The unit that a row equals, also where it claims less of an op: "" where it claims nothing.
const char* reference_of(IeeeClaim claim);

struct CoreInstruction {
  std::string unit;  ///< what follows `cuda:`, e.g. "add.f32"; rows of one unit differ in rounding, ftz or saturate
  Op op;
  IeeeClaim claim = IeeeClaim::none;
  unsigned archs = 0;  ///< bits of namespace arch
  std::string ptx;
};

/// In the order of the kernels' launch table.
const std::vector<CoreInstruction>& core_instructions();

/// Whether any row is of this unit.
bool is_core_unit(std::string_view unit);

/// The row of a unit that does what the op asks for, -1 if there is none.
int find_core_instruction(std::string_view unit, const Op& op);

}  // namespace mmafuzz
