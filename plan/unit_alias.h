// Short names of units: a GPU or an architecture, and perhaps an instruction, or a row of one's own
// (plan/named_rows.h). The op chooses the row.
//
//   h100                    the mma of Hopper for the op's formats
//   hopper/wgmma            another instruction
//   mi300x, a100?block=16   settings follow as behind a full name
//   rule=floor              quantizer:floor
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/op.h"
#include "core/result.h"

namespace mmafuzz {

/// The unit that a short name stands for on an op: of the architecture's rows of the op's formats the widest that the
/// op fills, so the one whose own op it is where there is one; of several the first instruction (mma before wgmma). Any
/// other text comes back as it is, and so does a short name that has no row for the op, so that binding it says what is
/// wrong.
std::string unit_of_alias(const std::string& text, const Op& op);

/// Why a text that no family knows is no short name of a unit for the op: the GPU has no row for it, or it is a GPU's
/// name mistyped. Nothing where it is like no GPU's name.
std::optional<Refusal> refusal_of_alias(const std::string& text, const Op& op);

/// Whether the text is written as a short name of a known GPU or architecture, or of a row of one's own.
bool is_alias(const std::string& text);

}  // namespace mmafuzz
