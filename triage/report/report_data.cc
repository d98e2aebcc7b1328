#include "triage/report/report_data.h"

namespace mmafuzz {

ReportData read_report_data(const std::string& path) {
  const Store store(path, Access::read);
  ReportData data;
  data.buckets = store.buckets();
  data.campaigns = store.campaigns();
  for (const CampaignSample& s : store.samples())
    data.samples.push_back({s.campaign, static_cast<double>(s.second), s.cases, s.bins, s.buckets});
  for (const CoverageRecord& c : store.coverage())
    data.coverage.push_back({c.field, c.op, c.bin.substr(0, c.bin.find('.')), c.bin, c.hits > 0});
  for (const PairRecord& p : store.pairs())
    data.pairs.push_back({p.op, p.first_unit, p.second_unit, p.compared, p.differing, p.property});
  data.trends = trends_of(store);
  return data;
}

}  // namespace mmafuzz
