// An explanation as JSON (docs/json.md).
#pragma once

#include <nlohmann/json.hpp>

#include "triage/explain/explanation.h"

namespace mmafuzz {

nlohmann::json explanation_json(const Explanation& explanation);
nlohmann::json value_json(const ExplainedNumber& value);

}  // namespace mmafuzz
