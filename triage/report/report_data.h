// Everything that a report shows, as plain data: filled from a findings store, or by a test.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "triage/facts/trends.h"
#include "triage/store/store.h"

namespace mmafuzz {

/// How far a campaign was after `elapsed` seconds.
struct ReportSample {
  std::string campaign;  ///< uuid
  double elapsed = 0;
  uint64_t cases = 0, bins = 0, buckets = 0;
};

/// One bin that is possible for a unit on an op.
struct ReportBin {
  std::string unit, op;  ///< the focus unit and the op's label
  std::string group, bin;
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
  std::vector<ReportSample> samples;  ///< of each campaign in order of time
  std::vector<ReportBin> coverage;
  std::vector<ReportPair> pairs;
  Trends trends;  ///< over the campaigns
};

/// Why nothing can be concluded from one of the campaigns: then nothing is green.
inline std::string why_inconclusive(const ReportData& data) {
  for (const CampaignRecord& campaign : data.campaigns)
    if (!campaign.inconclusive.empty()) return campaign.inconclusive;
  return "";
}

/// Reads a findings store. Throws std::runtime_error with what is wrong and what to do.
ReportData read_report_data(const std::string& store);

}  // namespace mmafuzz
