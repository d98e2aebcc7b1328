// Everything that a report shows, as plain data: filled from a findings store, or by a test.
#pragma once

#include <string>
#include <vector>

#include "triage/facts/trends.h"
#include "triage/store/store.h"

namespace mmafuzz {

/// One coverage bin that is not ruled out for a unit on an op.
struct ReportBin {
  std::string unit, op;    ///< the focus unit, or the target where there is none, and the op's label
  std::string group, bin;  ///< the bin's name, and its part before the first dot
  bool reached = false;
};

struct ReportData {
  std::vector<Bucket> buckets;  ///< in the order of listed_before
  std::vector<CampaignRecord> campaigns;
  std::vector<CampaignSample> samples;  ///< by campaign, then by time
  std::vector<ReportBin> coverage;
  std::vector<PairRecord> pairs;  ///< summed over campaigns
  Trends trends;                  ///< over the campaigns
};

/// Why nothing can be concluded from the first such campaign; "" where there is none.
inline std::string why_inconclusive(const ReportData& data) {
  for (const CampaignRecord& campaign : data.campaigns)
    if (!campaign.inconclusive.empty()) return campaign.inconclusive;
  return "";
}

/// Reads a findings store. Throws std::runtime_error with what is wrong and what to do.
ReportData read_report_data(const std::string& store);

}  // namespace mmafuzz
