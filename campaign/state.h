// What a campaign keeps in its folder besides corpora and segments: its settings and how far each assignment has come.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/answers.h"

namespace mmafuzz {

/// Kept in campaign.json; --resume starts from them.
struct CampaignSettings {
  double time = 60;  ///< seconds; 0: no bound
  unsigned jobs = 1;
  std::vector<std::string> units, targets = {"*"}, ops, with, engine_folders;  ///< as in PlanRequest
  uint64_t seed = 1, cases = 0, memory_mb = 2048;                              ///< cases 0: no bound; MiB of a worker
  std::string fail_on = "contract", stop_on = "never";
  unsigned shard = 0, shards = 0;  ///< campaign/shard.h; shard 0: all of them; shards 0: not divided
  std::string plan;                ///< of shards: plan_words() of the whole plan
  // What identifies the campaign in stores; set_identity() sets it when the campaign begins.
  std::string uuid, command, machine, version;
  int64_t started = 0;  ///< seconds since 1970, UTC
};

/// Sets uuid, start, command, machine and version of a campaign that begins.
void set_identity(CampaignSettings& settings);

/// What one assignment has done so far, over all of its slices.
struct AssignmentProgress {
  uint64_t slices = 0, cases = 0, inputs = 0;  ///< slices begun; cases; inputs of engines
  double seconds = 0;
  AnswerCounts answers;
  /// Cases of batch searches that continued the walks, one after the other. Searches that run at the same time begin at
  /// the same position, and count once.
  uint64_t walked = 0;
  // With --cases: where the assignment began. If its worker is killed, it begins there again, with the same result.
  bool begun = false;
  uint64_t cases_before = 0, corpus_before = 0;  ///< cases so far, and bytes of the packed inputs
  AnswerCounts answers_before;

  bool has_run() const { return cases || inputs; }
  bool has_all(uint64_t asked) const { return begun && cases >= cases_before + asked; }
};

/// Kept in progress.json, rewritten every few seconds: a killed campaign with --time repeats at most those.
struct CampaignProgress {
  double elapsed = 0, time = 0;  ///< seconds that the campaign ran so far, and that it has in all; time 0: no bound
  uint64_t restarts = 0;
  std::map<std::string, AssignmentProgress> shares;  ///< by Assignment::name()
  std::map<std::string, uint64_t> bins;  ///< by Assignment::field(): bins that all workers have reached together

  /// The progress of the assignment of that name; nullptr where it has not begun.
  const AssignmentProgress* find(const std::string& assignment) const {
    const auto found = shares.find(assignment);
    return found == shares.end() ? nullptr : &found->second;
  }
};

/// Each throws std::runtime_error with the file's name; save(settings) also BadInput for names that are not UTF-8.
void save(const CampaignSettings& settings, const std::string& file);
void save(const CampaignProgress& progress, const std::string& file);
CampaignSettings load_settings(const std::string& file);
/// A file that does not exist means that the campaign has not begun: all is 0.
CampaignProgress load_progress(const std::string& file);

/// What a worker's status file says (fuzz_targets/target.h, --status).
struct WorkerStatus {
  double seconds = 0;
  uint64_t inputs = 0, cases = 0, bins = 0, divergences = 0;
  bool done = false;   ///< a batch worker has come to the end of its slice
  std::string newest;  ///< name of the bin that was reached last
  AnswerCounts answers;
};
WorkerStatus read_status(const std::string& file);

}  // namespace mmafuzz
