// What a campaign remembers in its folder beside corpora and segments: its settings and how far each share of it came.
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
  std::vector<std::string> units, targets = {"*"}, ops, with, engine_folders;
  uint64_t seed = 1, cases = 0, memory_mb = 2048;
  std::string fail_on = "contract", stop_on = "never";
  unsigned shard = 0, shards = 0;  ///< campaign/shard.h; shard 0 of some: the whole of them
  std::string plan;                ///< of shards: what all of them divide, as a few words
  // What names the campaign in stores; set when it begins.
  std::string uuid, command, machine, version;
  int64_t started = 0;  ///< seconds since 1970, UTC
};

/// Gives a campaign that begins its name and its circumstances.
void set_identity(CampaignSettings& settings);

/// What one assignment did so far.
struct ShareProgress {
  uint64_t slices = 0, cases = 0, inputs = 0;
  double seconds = 0;
  AnswerCounts answers;
  /// Cases of batch searches that went on along the walks, one behind the other. Searches that run at the same time
  /// begin at the same step, and are counted once.
  uint64_t walked = 0;
  // Of --cases: where the assignment began. One that did not come to its end begins there again and gives the same.
  bool begun = false;
  uint64_t cases_before = 0, corpus_before = 0;  ///< cases, and bytes of its packed inputs
  AnswerCounts answers_before;

  bool has_all(uint64_t asked) const { return begun && cases >= cases_before + asked; }
};

/// Kept in progress.json, rewritten every few seconds: a killed campaign with --time repeats at most those.
struct CampaignProgress {
  double elapsed = 0, time = 0;  ///< seconds so far, and in all
  uint64_t restarts = 0;
  std::map<std::string, ShareProgress> shares;  ///< by Assignment::name()
  std::map<std::string, uint64_t> bins;         ///< greatest number reached, by Assignment::field()
};

/// Each throws std::runtime_error naming the file.
void save(const CampaignSettings& settings, const std::string& file);
void save(const CampaignProgress& progress, const std::string& file);
CampaignSettings load_settings(const std::string& file);
/// A file that does not exist is a campaign's beginning.
CampaignProgress load_progress(const std::string& file);

/// What a worker's status file says (fuzz_targets/target.h, --status).
struct WorkerStatus {
  double seconds = 0;
  uint64_t inputs = 0, cases = 0, bins = 0, divergences = 0;
  bool done = false;  ///< of a batch worker: it came to its end
  std::string newest;
  AnswerCounts answers;
};
WorkerStatus read_status(const std::string& file);

}  // namespace mmafuzz
