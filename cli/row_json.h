// Units as JSON, with the rows of models (docs/concepts.md): the keys that `list --json` and `catalogue` share.
#pragma once

#include <nlohmann/json.hpp>

#include "core/registry.h"
#include "oracles/models/model_rows.h"
#include "plan/evidence.h"

namespace mmafuzz::cli {

/// Name, source and claims of a unit; of a model also its row: op, kernel, parameters, formats, GPUs. With evidence
/// (nullptr: none) also how each claim was checked, and the row's evidence, open points and measured speed.
nlohmann::json unit_json(const UnitInfo& info, const EvidenceTables* evidence);

/// The row of a unit of the family `model:`; nullptr for other units.
const ModelRow* row_of(const UnitInfo& info);

}  // namespace mmafuzz::cli
