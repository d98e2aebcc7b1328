#include "campaign/conclusions_of.h"

#include <algorithm>

#include "plan/registry.h"

namespace mmafuzz {

std::map<std::string, Expectation> expectations_of(const Plan& plan, const std::vector<std::string>& units,
                                                   const std::function<bool(const Assignment&)>& counts) {
  std::vector<FactField> fields;
  for (const Assignment& assignment : plan.assignments) {
    if (!assignment.op || !assignment.target->compares_units() || (counts && !counts(assignment))) continue;
    const bool is_new = std::none_of(fields.begin(), fields.end(),
                                     [&](const FactField& field) { return field.first == *assignment.op; });
    if (is_new) fields.emplace_back(*assignment.op, units_of(units, *assignment.op));
  }
  return expected_facts(registry(), fields);
}

std::map<std::string, Expectation> expectations_of(const Plan& plan, const std::vector<std::string>& units,
                                                   const CampaignProgress& progress) {
  std::map<std::string, Expectation> expected = expectations_of(plan, units, [&](const Assignment& assignment) {
    const auto share = progress.shares.find(assignment.name());
    return share != progress.shares.end() && (share->second.cases || share->second.inputs);
  });
  // fill_holes looks at ops for which the search had no time: what their rows imply is possible, too.
  for (auto& [name, expectation] : expectations_of(plan, units)) {
    expectation.must = false;
    expected.emplace(name, expectation);
  }
  return expected;
}

Conclusions conclusions_of(const std::vector<Bucket>& buckets, const std::string& knowledge_folder) {
  return conclude(buckets, Knowledge(knowledge_folder), {});
}

Conclusions conclusions_of(const std::vector<Bucket>& buckets, const std::string& knowledge_folder, const Plan& plan,
                           const CampaignProgress& progress, const std::vector<std::string>& units,
                           const std::set<std::string>& seen_before) {
  return conclude(buckets, Knowledge(knowledge_folder), expectations_of(plan, units, progress), seen_before);
}

}  // namespace mmafuzz
