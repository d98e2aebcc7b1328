#include "campaign/all_nights.h"

#include "triage/facts/facts.h"
#include "triage/store/store.h"

namespace mmafuzz {

std::set<std::string> merge_into_all_nights(const std::string& all_nights, const std::string& own,
                                            const std::string& campaign, std::vector<Bucket>& buckets) {
  Store all(all_nights, Access::write), mine(own, Access::write);
  all.merge_from(mine);
  std::set<std::string> names, before;
  for (const Fact& fact : facts_of(all.buckets())) names.insert(fact.name);  // combinations are divided alike
  for (const Fact& fact : facts_of(all.buckets_beside(campaign), names)) before.insert(fact.name);
  all.write_witnesses();
  mine.atomically([&] {
    for (Bucket& bucket : buckets) {
      const Bucket decided = all.find(bucket.id());
      if (decided.status_set == 0) continue;
      bucket.status = decided.status;
      bucket.note = decided.note;
      bucket.status_set = decided.status_set;
      mine.set_status(bucket.id(), bucket.status, bucket.note, bucket.status_set);
    }
  });
  return before;
}

}  // namespace mmafuzz
