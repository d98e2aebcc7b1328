// Follows what workers append to their segments: one entry per bucket across all workers, and crashes. What is told to
// a person is in a file before.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/divergence_log.h"

namespace mmafuzz {

/// Findings of one kind. Crashes count as contract divergences where a campaign is judged.
struct FindingCounts {
  size_t contract = 0, accuracy = 0, semantic = 0, crash = 0;
  size_t sum() const { return contract + accuracy + semantic + crash; }
};

class CampaignFindings {
 public:
  struct Entry {
    std::string line;     ///< "mmafuzz: divergence ..." or "mmafuzz: crash ..."
    std::string segment;  ///< of the workers that found it the first by name, whoever was faster
    LoggedDivergence divergence;
    bool crash = false, known = false;
  };

  /// Reads everything that is there, as known where a campaign goes on. `folder`: the campaign's.
  explicit CampaignFindings(std::string folder, bool as_known = true);

  /// New whole records of all segments; returns the entries that are new buckets.
  std::vector<const Entry*> follow();

  /// Keeps a crash: `what` ("signal 11 (...)", "exit code 1"), who, and the tail of the worker's log are in a file when
  /// this returns. Null if the same worker's assignment crashed that way before.
  const Entry* add_crash(const std::string& assignment, const std::string& what, const std::string& command,
                         const std::string& log);

  /// Of those that were known, or were not; of all where that is not said.
  FindingCounts count(std::optional<bool> known = {}) const;
  const std::map<std::string, Entry>& entries() const { return entries_; }

  /// All divergences, one for each bucket, as one file of case text, in an order that depends on the buckets alone.
  void merge(const std::string& file) const;

 private:
  const Entry* add(Entry entry);
  void read_crashes();

  std::string folder_;
  std::map<std::string, size_t> offsets_;  ///< by segment
  std::map<std::string, Entry> entries_;   ///< by line
  bool loading_;
};

}  // namespace mmafuzz
