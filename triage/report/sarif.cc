// The report for code scanning (SARIF).
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/json_text.h"
#include "core/text.h"
#include "triage/facts/conclusions.h"
#include "triage/report/report.h"

namespace mmafuzz {
namespace {

using nlohmann::json;

const char* level_of(const Fact& fact) {
  if (fact.is_contradiction || fact.severity == Severity::contract) return "error";
  return fact.severity == Severity::accuracy ? "warning" : "note";
}

/// The description of a property's rule: what a failure means.
std::string rule_text(const std::string& property) {
  if (property == "equal") return "Two units give different results on the same case.";
  if (property == "equals_model") return "A unit does not give the results of the unit that it claims to equal.";
  return "A unit breaks the property " + property + ".";
}

/// The number, from 1, of the last line of a witness that is neither empty nor a comment, which is that of a case.
size_t case_line_of(const std::string& witness) {
  size_t line = 1, last = 1;
  for (size_t at = 0; at < witness.size(); ++line) {
    const size_t end = std::min(witness.find('\n', at), witness.size());
    if (end > at && witness[at] != '#') last = line;
    at = end + 1;
  }
  return last;
}

class SarifRun {
 public:
  void add(const Fact& fact, bool known) {
    json result = {{"ruleId", fact.best.key.property},
                   {"ruleIndex", rule_of(fact.best.key.property)},
                   {"level", level_of(fact)},
                   {"kind", "fail"},
                   {"baselineState", known ? "unchanged" : "new"},
                   {"message", {{"text", message_of(fact)}}},
                   {"partialFingerprints", {{"mmafuzzFact/v1", fact.name}}},
                   {"occurrenceCount", std::max<uint64_t>(1, fact.divergences)},
                   {"properties", {{"fact", fact.name}, {"buckets", fact.buckets}, {"ops", fact.ops}}}};
    json location = {{"logicalLocations", json::array()}};
    for (const std::string& unit : fact.units)
      location["logicalLocations"].push_back({{"fullyQualifiedName", unit}, {"kind", "module"}});
    if (!fact.best.witness.empty())
      location["physicalLocation"] = {
          {"artifactLocation", {{"uri", uri_of(fact.best)}, {"index", artifact_of(fact.best)}}},
          {"region", {{"startLine", case_line_of(fact.best.witness)}}}};
    result["locations"] = json::array({location});
    result["suppressions"] = json::array();
    if (known)
      result["suppressions"].push_back({{"kind", "external"},
                                        {"status", "accepted"},
                                        {"justification", !fact.best.note.empty() ? fact.best.note
                                                          : !fact.reason.empty()  ? fact.reason
                                                                                  : "a known fact"}});
    results_.push_back(result);
  }

  std::string text(const ReportData& data, const std::string& version) const {
    json notifications = json::array(), invocations = json::array();
    for (const CampaignRecord& campaign : data.campaigns)
      if (!campaign.inconclusive.empty())
        notifications.push_back(
            {{"level", "error"},
             {"message",
              {{"text", "nothing can be concluded from campaign " + campaign.uuid + ": " + campaign.inconclusive}}}});
    invocations.push_back(
        {{"executionSuccessful", why_inconclusive(data).empty()}, {"toolExecutionNotifications", notifications}});
    const json run = {{"tool", {{"driver", {{"name", "mmafuzz"}, {"version", version}, {"rules", rules_}}}}},
                      {"automationDetails", {{"id", "mmafuzz/"}}},
                      {"invocations", invocations},
                      {"artifacts", artifacts_},
                      {"results", results_}};
    const json log = {{"$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"},
                      {"version", "2.1.0"},
                      {"runs", json::array({run})}};
    return json_text(log);
  }

 private:
  static std::string uri_of(const Bucket& bucket) { return "witnesses/" + bucket.id() + ".cases"; }

  static std::string message_of(const Fact& fact) {
    return fact.name + ": " + sentence(fact) + "; " + evidence(fact) + ". Units: " + joined(fact.units, ", ", 6) + ".";
  }

  size_t rule_of(const std::string& property) {
    const auto [at, fresh] = rule_places_.try_emplace(property, rules_.size());
    if (fresh) rules_.push_back({{"id", property}, {"shortDescription", {{"text", rule_text(property)}}}});
    return at->second;
  }

  size_t artifact_of(const Bucket& bucket) {
    const auto [at, fresh] = artifact_places_.try_emplace(bucket.id(), artifacts_.size());
    if (fresh)
      artifacts_.push_back({{"location", {{"uri", uri_of(bucket)}}},
                            {"mimeType", "text/plain"},
                            {"contents", {{"text", bucket.witness}}}});
    return at->second;
  }

  json rules_ = json::array(), artifacts_ = json::array(), results_ = json::array();
  std::map<std::string, size_t> rule_places_, artifact_places_;
};

}  // namespace

std::string sarif_report(const ReportData& data, const Knowledge& knowledge, const std::string& version) {
  const Conclusions all = conclude(data.buckets, knowledge, {});
  SarifRun run;
  for (const Fact& fact : all.contradictions) run.add(fact, fact.is_accepted);
  for (const Fact& fact : all.fresh) run.add(fact, false);
  for (const Fact& fact : all.confirmed) run.add(fact, true);
  return run.text(data, version);
}

}  // namespace mmafuzz
