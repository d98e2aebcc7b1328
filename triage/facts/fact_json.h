// A fact as JSON (docs/json.schema.json).
#pragma once

#include <nlohmann/json.hpp>

#include "triage/facts/facts.h"

namespace mmafuzz {

inline nlohmann::json fact_json(const Fact& fact) {
  return {{"name", fact.name},
          {"sentence", sentence(fact)},
          {"severity", name_of(fact.severity)},
          {"contradiction", fact.is_contradiction},
          {"divergences", fact.divergences},
          {"first_seen", fact.first_seen},
          {"pairs", fact.pairs},
          {"units", fact.units},
          {"ops", fact.ops},
          {"addends", fact.best.addends},
          {"witness", fact.best.witness},
          {"buckets", fact.buckets},
          {"reason", fact.reason}};
}

}  // namespace mmafuzz
