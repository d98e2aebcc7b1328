#include "triage/report/report_data.h"

namespace mmafuzz {

ReportData read_report_data(const std::string& path) {
  const Store store(path, Access::read);
  ReportData data;
  data.buckets = store.buckets();
  data.campaigns = store.campaigns();
  data.samples = store.samples();
  for (const CoverageRecord& c : store.coverage())
    data.coverage.push_back({c.field, c.op, c.bin.substr(0, c.bin.find('.')), c.bin, c.hits > 0});
  data.pairs = store.pairs();
  data.trends = trends_of(store);
  return data;
}

}  // namespace mmafuzz
