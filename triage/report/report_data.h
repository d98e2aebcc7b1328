// Everything that a report shows, as plain data: filled from a findings store, or by a test.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "triage/facts/trends.h"
#include "triage/store/store.h"

namespace mmafuzz {

/// The progress of a campaign at one time.
struct ReportSample {
  std::string campaign;  ///< uuid
  double elapsed = 0;    ///< seconds since the campaign started
  uint64_t cases = 0, bins = 0, buckets = 0;
};

/// One coverage bin that is not ruled out for a unit on an op.
struct ReportBin {
  std::string unit, op;    ///< the focus unit, or the target where there is none, and the op's label
  std::string group, bin;  ///< the bin's name, and its part before the first dot
  bool reached = false;
};

/// A property of two units, or of one (`second` empty), on one op: how many cases were compared and on how many it
/// failed.
struct ReportPair {
  std::string op, first, second;
  uint64_t compared = 0, differing = 0;
  std::string property = "equal";
};

struct ReportData {
  std::vector<Bucket> buckets;  ///< in the order of listed_before
  std::vector<CampaignRecord> campaigns;
  std::vector<ReportSample> samples;  ///< by campaign, then by time
  std::vector<ReportBin> coverage;
  std::vector<ReportPair> pairs;
  Trends trends;  ///< over the campaigns
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
