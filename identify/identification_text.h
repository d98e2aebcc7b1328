// An identification as people read it, and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "identify/identify.h"

namespace mmafuzz {

/// The steps, if wanted, then the answer.
std::string identification_text(const Identification& id, bool steps);

nlohmann::json identification_json(const Identification& id);

}  // namespace mmafuzz
