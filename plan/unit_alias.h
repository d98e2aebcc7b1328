// Short names (aliases) of units: a GPU or an architecture, perhaps with an instruction; a rule of block quantizers; or
// a named row of the user's (plan/named_rows.h). The op decides which unit a short name stands for.
//
//   h100                    the mma of Hopper for the op's formats
//   hopper/wgmma            another instruction
//   mi300x, a100?block=16   settings follow as after a whole name
//   rule=floor              quantizer:floor
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/op.h"
#include "core/result.h"

namespace mmafuzz {

/// The unit that a short name stands for on an op. For an architecture it is the row of the op's formats with the
/// largest k that is at most the op's, or else the smallest; of equal ones the first in the table (mma before wgmma).
/// Any other text is returned unchanged, and so is a short name without a row for the op, which then fails to bind.
std::string unit_of_alias(const std::string& text, const Op& op);

/// Why a text that no family owns stands for no unit on the op: a short name has no row for the op, or the text is like
/// the name of a GPU. nullopt for any other text.
std::optional<Refusal> refusal_of_alias(const std::string& text, const Op& op);

/// Whether the text is a short name: of a known GPU or architecture, a rule of block quantizers, or a named row.
bool is_alias(const std::string& text);

}  // namespace mmafuzz
