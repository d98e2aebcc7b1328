// Follows what workers append to their segments: one entry for each bucket across all workers, and one for each crash.
// A finding is in a file before it is reported.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/divergence_log.h"

namespace mmafuzz {

/// Numbers of findings by severity. Where a campaign is judged, crashes count as contract divergences.
struct FindingCounts {
  size_t contract = 0, accuracy = 0, semantic = 0, crash = 0;
  size_t sum() const { return contract + accuracy + semantic + crash; }
};

/// Whether an earlier run of a campaign that is resumed found something, or the run that goes on now.
enum class FoundBy { earlier_run, this_run };

class CampaignFindings {
 public:
  struct Entry {
    std::string line;     ///< "mmafuzz: divergence ..." or "mmafuzz: crash ..."
    std::string segment;  ///< of the workers that found it, the segment with the least name, whoever was faster
    LoggedDivergence divergence;
    bool is_crash = false;
    FoundBy found_by = FoundBy::this_run;
  };

  /// Reads everything that is in the campaign's folder, as found by that run.
  explicit CampaignFindings(std::string folder, FoundBy found_by = FoundBy::earlier_run);

  /// Reads the new whole records of all segments; returns the entries that are new buckets, owned by this object.
  std::vector<const Entry*> follow();

  /// Keeps a crash of an assignment: `what` happened ("signal 11 (...)", "exit code 1"), the worker's command and the
  /// tail of its log are in a file when this returns. nullptr if the assignment crashed that way before.
  const Entry* add_crash(const std::string& assignment, const std::string& what, const std::string& command,
                         const std::string& log);

  /// Counts what that run found; without `found_by`, everything.
  FindingCounts count(std::optional<FoundBy> found_by = {}) const;
  const std::map<std::string, Entry>& entries() const { return entries_; }

  /// Writes one divergence for each bucket as a file of case text, in an order that depends on the buckets alone.
  void merge(const std::string& file) const;

 private:
  const Entry* add(Entry entry);
  void read_crashes();

  std::string folder_;
  std::map<std::string, size_t> offsets_;  ///< by segment: bytes that were read
  std::map<std::string, Entry> entries_;   ///< by line
  FoundBy found_by_;                       ///< of entries that are added
};

}  // namespace mmafuzz
