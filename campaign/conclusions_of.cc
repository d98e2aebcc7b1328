#include "campaign/conclusions_of.h"

#include <algorithm>

#include "plan/registry.h"

namespace mmafuzz {

Conclusions conclusions_of(const std::vector<Bucket>& buckets, const std::string& knowledge_folder) {
  return conclude(buckets, Knowledge(knowledge_folder), {});
}

Conclusions conclusions_of(const std::vector<Bucket>& buckets, const std::string& knowledge_folder, const Plan& plan,
                           const CampaignProgress& progress, const std::vector<std::string>& units,
                           const std::set<std::string>& seen_before) {
  std::vector<FactField> fields;
  for (const Assignment& assignment : plan.assignments) {
    const auto share = progress.shares.find(assignment.name());
    const bool searched = share != progress.shares.end() && (share->second.cases || share->second.inputs);
    if (!searched || !assignment.op || !assignment.target->compares_units()) continue;
    const bool is_new = std::none_of(fields.begin(), fields.end(),
                                     [&](const FactField& field) { return field.first == *assignment.op; });
    if (is_new) fields.emplace_back(*assignment.op, units_of(units, *assignment.op));
  }
  return conclude(buckets, Knowledge(knowledge_folder), expected_facts(registry(), fields), seen_before);
}

}  // namespace mmafuzz
