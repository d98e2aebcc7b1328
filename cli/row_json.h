// What a row computes, as JSON: the keys that `list` and `catalogue` share.
#pragma once

#include <nlohmann/json.hpp>

#include "oracles/models/gpu_names.h"
#include "oracles/models/model_rows.h"
#include "oracles/models/parameters.h"

namespace mmafuzz::cli {

inline nlohmann::json row_json(const ModelRow& row) {
  nlohmann::json json = {{"op", to_text(row.op)}};
  json["parameters"] = nlohmann::json::array();
  for (const Parameter& p : parameters()) {
    const std::string value = parameter_text(p, row.model);
    if (std::string_view(p.name) == "kernel") json["kernel"] = value;
    else if (p.used_by(row.model.kernel)) json["parameters"].push_back({{"name", p.name}, {"value", value}});
  }
  json["formats"] = {{"a", row.op.a.name()}, {"b", row.op.b.name()}, {"c", row.op.c.name()}, {"d", row.op.d.name()}};
  if (row.op.has_scales()) json["formats"]["scales"] = row.op.scale_a.name();
  json["gpus"] = nlohmann::json::array();
  for (const GpuName& gpu : gpu_names())
    if (row.arch == gpu.arch) json["gpus"].push_back(gpu.name);
  return json;
}

}  // namespace mmafuzz::cli
