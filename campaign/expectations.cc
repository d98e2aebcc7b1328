#include "campaign/expectations.h"

#include <algorithm>

#include "plan/registry.h"
#include "triage/store/store.h"

namespace mmafuzz {

std::map<std::string, Expectation> expectations_of(const Plan& plan, const std::vector<std::string>& units,
                                                   const std::function<bool(const Assignment&)>& is_searched) {
  std::vector<FactField> fields;
  for (const Assignment& assignment : plan.assignments) {
    if (!assignment.op || !assignment.target->compares_units()) continue;
    if (is_searched && !is_searched(assignment)) continue;
    const bool is_new = std::none_of(fields.begin(), fields.end(),
                                     [&](const FactField& field) { return field.first == *assignment.op; });
    if (is_new) fields.emplace_back(*assignment.op, units_of(units, *assignment.op));
  }
  return expected_facts(registry(), fields);
}

std::map<std::string, Expectation> expectations_of(const Plan& plan, const std::vector<std::string>& units,
                                                   const CampaignProgress& progress) {
  std::map<std::string, Expectation> expected = expectations_of(plan, units, [&](const Assignment& assignment) {
    const AssignmentProgress* share = progress.find(assignment.name());
    return share && share->has_run();
  });
  // fill_holes searches ops for which the campaign had no time: the facts that their rows imply are possible, too.
  for (auto& [name, expectation] : expectations_of(plan, units)) {
    expectation.is_required = false;
    expected.emplace(name, expectation);
  }
  return expected;
}

std::set<std::string> merge_into_all_nights(const std::string& all_nights, const std::string& store,
                                            const std::string& campaign, std::vector<Bucket>& buckets) {
  Store all(all_nights, Access::write), of_campaign(store, Access::write);
  all.merge_from(of_campaign);
  std::set<std::string> names, before;
  for (const Fact& fact : facts_of(all.buckets()))
    names.insert(fact.name);  // so that combined facts are divided alike in both sets
  for (const Fact& fact : facts_of(all.buckets_beside(campaign), names)) before.insert(fact.name);
  all.write_witnesses();
  of_campaign.atomically([&] {
    for (Bucket& bucket : buckets) {
      const Bucket decided = all.find(bucket.id());
      if (decided.status_set == 0) continue;
      bucket.status = decided.status;
      bucket.note = decided.note;
      bucket.status_set = decided.status_set;
      of_campaign.set_status(bucket.id(), bucket.status, bucket.note, bucket.status_set);
    }
  });
  return before;
}

}  // namespace mmafuzz
