// A bucket as JSON (docs/json.schema.json).
#pragma once

#include <nlohmann/json.hpp>

#include "triage/bucket.h"

namespace mmafuzz {

inline nlohmann::json bucket_json(const Bucket& b) {
  return {{"id", b.id()},
          {"severity", name_of(b.severity)},
          {"status", name_of(b.status)},
          {"status_set", b.status_set},
          {"note", b.note},
          {"count", b.count},
          {"addends", b.addends},
          {"property", b.key.property},
          {"op", b.key.op},
          {"units", b.key.units},
          {"value_class", b.key.value_class},
          {"cause", b.cause},
          {"detail", b.detail},
          {"facts", b.facts},
          {"first_seen", b.first_seen},
          {"last_seen", b.last_seen},
          {"seed", b.seed},
          {"command", reproduction_command(b)},
          {"witness", b.witness},
          {"line", b.line()}};
}

}  // namespace mmafuzz
