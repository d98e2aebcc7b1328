// Units and rows as JSON: the keys that `list` and `catalogue` share.
#pragma once

#include <nlohmann/json.hpp>

#include "core/registry.h"
#include "oracles/models/model_rows.h"
#include "plan/evidence.h"

namespace mmafuzz::cli {

/// What a unit is and claims, of a row what it computes, too. With evidence also what claims and row rest on.
nlohmann::json unit_json(const UnitInfo& info, const EvidenceTables* evidence);

/// The row of a unit that is a model; nullptr of others.
const ModelRow* row_of(const UnitInfo& info);

}  // namespace mmafuzz::cli
