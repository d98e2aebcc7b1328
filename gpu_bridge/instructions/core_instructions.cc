#include "gpu_bridge/instructions/core_instructions.h"

#include <algorithm>

#include "gpu_bridge/instructions/instructions.h"

namespace mmafuzz {
namespace {

CoreInstruction make(const char* unit, const char* operation, const char* d, const char* a, Rounding rounding, bool ftz,
                     bool saturate, IeeeClaim claim, unsigned archs, const char* ptx) {
  CoreInstruction i;
  i.unit = unit;
  i.op.kind = OpKind::convert;
  for (int s = 0; s < scalar_operation_count; ++s)
    if (std::string_view(operation) == name_of(ScalarOperation(s))) {
      i.op.kind = OpKind::scalar;
      i.op.scalar = ScalarOperation(s);
    }
  i.op.a = format_of_type(a);
  i.op.d = format_of_type(d);
  i.op.rounding = rounding;
  i.op.flush_to_zero = ftz;
  i.op.saturate = saturate;
  i.claim = claim;
  i.archs = archs;
  i.ptx = ptx;
  return i;
}

}  // namespace

const char* reference_of(const CoreInstruction& instruction) {
  if (instruction.relu()) return "relu:ieee";
  return instruction.claim == IeeeClaim::no_nans ? "except_nan:ieee" : "ieee";
}

bool equals_its_reference(const CoreInstruction& instruction) {
  const Op& op = instruction.op;
  const bool keeps_result = op.flush_to_zero && op.kind == OpKind::convert && op.d.name() == "fp16";
  return instruction.claim != IeeeClaim::none && !keeps_result;
}

const std::vector<CoreInstruction>& core_instructions() {
  static const std::vector<CoreInstruction> all = {
#define ROW(id, form, unit, operation, d, a, rounding, ftz, saturate, claim, archs, ptx) \
  make(unit, #operation, #d, #a, Rounding::rounding, ftz, saturate, IeeeClaim::claim, arch::archs, ptx),
      MMAFUZZ_CORE(ROW)
#undef ROW
  };
  return all;
}

bool is_core_unit(std::string_view unit) {
  const std::vector<CoreInstruction>& all = core_instructions();
  return std::any_of(all.begin(), all.end(), [&](const CoreInstruction& i) { return i.unit == unit; });
}

int find_core_instruction(std::string_view unit, const Op& op) {
  for (size_t i = 0; i < core_instructions().size(); ++i) {
    const CoreInstruction& row = core_instructions()[i];
    if (row.unit == unit && row.op.kind == op.kind && (op.kind != OpKind::scalar || row.op.scalar == op.scalar) &&
        row.op.a == op.a && row.op.d == op.d && row.op.rounding == op.rounding &&
        row.op.flush_to_zero == op.flush_to_zero && row.op.saturate == op.saturate)
      return static_cast<int>(i);
  }
  return -1;
}

}  // namespace mmafuzz
