// Triage of whole campaigns: makes a campaign's folder into its store of buckets, with the campaign's own figures.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "triage/bucket.h"
#include "triage/facts/conclusions.h"

namespace mmafuzz {

struct TriageRequest {
  std::vector<std::string> paths;  ///< campaign folders and segment files
  std::string store;  ///< file; empty: findings.sqlite of the first campaign, none where no path is a campaign
  unsigned jobs = 1;  ///< threads
  bool shows_progress = false;  ///< on standard error, every half second on a terminal, else every 30 seconds
  bool minimizes_all = false;   ///< the witness of every bucket, not only of what simplest_of_each_fact() names
  uint64_t deepen_cases = 0;    ///< cases to search for further causes of each pair (campaign/deepen.h); 0: none
};

struct TriageOutcome {
  std::vector<Bucket> buckets;               ///< of these paths, in listed order; all have a witness
  std::vector<std::string> new_ids;          ///< of buckets that the store did not hold before
  uint64_t divergences = 0;                  ///< records of the segments
  std::map<std::string, uint64_t> left_out;  ///< by reason: number of records that could not be triaged
  uint64_t left_out_of_contract = 0;  ///< those of severity contract: nothing can be concluded from their campaigns
  std::string inconclusive;  ///< why nothing can be concluded from the first such campaign; empty: there is none
  std::string store;         ///< file; empty: none was written
};

/// Prints on standard error a line for each reason, and one more where broken contracts are among the records left out.
void say_left_out(const TriageOutcome& outcome);

/// What the buckets mean: the campaigns among the paths, which must have been triaged, say which facts must be there.
Conclusions conclusions_of(const TriageRequest& request, const TriageOutcome& outcome, const Knowledge& knowledge);

/// Triages all paths of the request. Throws std::runtime_error, BadInput, or after a signal Interrupted; the store then
/// says that the campaign is not triaged.
TriageOutcome triage_campaigns(const TriageRequest& request);

}  // namespace mmafuzz
