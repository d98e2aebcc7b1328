// Changes of a dot's operands that a flaw of a lane, of what two lanes share, or of scales could make.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "triage/operands.h"

namespace mmafuzz {

struct OperandChange {
  std::string text;  ///< "a5*b5 were left out"
  std::function<void(Operands&)> apply;
};

/// Of one operand or addend, and of c with the first steps of `block` products; the simplest first.
std::vector<OperandChange> operand_changes(const Op& op, size_t block);

/// Two addends at a time, as what compares or shares between lanes may lose both: those of `lanes`, which may be k for
/// c.
std::vector<OperandChange> pair_changes(const Op& op, const std::vector<int>& lanes);

}  // namespace mmafuzz
