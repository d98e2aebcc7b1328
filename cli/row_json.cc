#include "cli/row_json.h"

#include "oracles/models/gpu_names.h"
#include "oracles/models/parameters.h"

namespace mmafuzz::cli {
namespace {

void add_row(nlohmann::json& json, const ModelRow& row) {
  json["op"] = to_text(row.op);
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
}

void add_evidence(nlohmann::json& json, const ModelRow& row, const EvidenceTables& evidence) {
  json["evidence"] = nlohmann::json::array();
  for (const EvidenceOfRow& one : evidence.evidence_of(row)) {
    nlohmann::json object = {{"kind", one.kind}, {"source", one.source}};
    if (!one.date.empty()) object["date"] = one.date;
    if (!one.file.empty()) object["file"] = one.file;
    if (one.cases) object["cases"] = one.cases;
    json["evidence"].push_back(object);
  }
  json["open_points"] = nlohmann::json::array();
  for (const OpenPoint& p : evidence.open_points(row))
    json["open_points"].push_back(
        {{"point", p.point}, {"parameters", p.parameters}, {"default", p.default_reading}, {"other", p.other_reading}});
  if (const std::string rate = evidence.rate(row); !rate.empty()) {
    json["cases_per_second"] = std::stod(rate);
    json["measured"] = evidence.how_rates_were_measured();
  }
}

void add_how(nlohmann::json& json, const UnitInfo& info, const Claim& claim, const EvidenceTables& evidence) {
  const ModelRow* row = row_of(info);
  if (const ExhaustiveCheck* check = evidence.exhaustive(info.name, claim.property)) {
    json["how"] = "exhaustive";
    json["inputs"] = check->inputs;
    json["on"] = check->ops;
  } else if (const int products = row ? evidence.proven_products(*row, claim.property) : 0) {
    json["how"] = "solver-proven";
    json["products"] = products;
  } else if (row) {
    json["how"] = "tested";
  }
}

}  // namespace

const ModelRow* row_of(const UnitInfo& info) {
  return info.name.starts_with("model:") ? find_model_row(info.name.substr(6)) : nullptr;
}

nlohmann::json unit_json(const UnitInfo& info, const EvidenceTables* evidence) {
  nlohmann::json json = {{"name", info.name}, {"source", info.source}, {"claims", nlohmann::json::array()}};
  for (const Claim& c : info.claims) {
    json["claims"].push_back({{"property", c.property}, {"detail", c.detail}});
    if (evidence) add_how(json["claims"].back(), info, c, *evidence);
  }
  if (const ModelRow* row = row_of(info)) {
    add_row(json, *row);
    if (evidence) add_evidence(json, *row, *evidence);
  }
  return json;
}

}  // namespace mmafuzz::cli
