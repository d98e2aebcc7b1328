// Triage of whole campaigns: from a campaign's folder to its store of buckets, with the campaign's own figures beside
// them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "triage/bucket.h"
#include "triage/facts/conclusions.h"

namespace mmafuzz {

struct TriageRequest {
  std::vector<std::string> paths;  ///< campaign folders and segment files
  std::string store;  ///< file; empty: findings.sqlite in the first campaign's folder, none where there is no folder
  unsigned jobs = 1;  ///< threads
  bool progress = false;      ///< on standard error, every half second or every 30
  bool minimize_all = false;  ///< the witness of every bucket, not only of what simplest_of_each_fact() names
  uint64_t deepen = 0;        ///< cases to search behind each pair's explained causes (campaign/deepen.h)
};

struct TriageOutcome {
  std::vector<Bucket> buckets;               ///< of these paths, in listed order; all have a witness
  std::vector<std::string> is_new;           ///< ids that the store did not know
  uint64_t divergences = 0;                  ///< records of the segments
  std::map<std::string, uint64_t> left_out;  ///< records that could not be looked at, by reason
  uint64_t left_out_of_contract = 0;         ///< of them; nothing can be concluded from their campaigns
  std::string inconclusive;                  ///< why nothing can be concluded from one of the campaigns
  std::string store;                         ///< empty: none was written
};

/// A line for each reason on standard error, and one more where a broken contract is among what was left out.
void say_left_out(const TriageOutcome& outcome);

/// What the buckets mean: the campaigns among the paths, which were triaged, say which facts must be there.
Conclusions conclusions_of(const TriageRequest& request, const TriageOutcome& outcome,
                           const std::string& knowledge_folder);

/// Throws std::runtime_error, BadInput, or Interrupted after a signal; the store then says what is not triaged.
TriageOutcome triage_campaigns(const TriageRequest& request);

}  // namespace mmafuzz
