// An identification as people read it, and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "identify/identify.h"

namespace mmafuzz {

/// A case in a few words: "c = 0x1p+15; products 0: 0x1p+8 * 0x1p+7, 1..15: 0x1p-7 * 0x1p-7".
std::string short_case(const Op& op, const Batch& one);

/// The steps, if wanted, then the answer.
std::string identification_text(const Identification& id, bool steps);

nlohmann::json identification_json(const Identification& id);

}  // namespace mmafuzz
