#include "campaign/gather_shards.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "campaign/corpus.h"
#include "campaign/shard.h"
#include "core/replace_file.h"
#include "search/byte_codec.h"
#include "search/reached_bins.h"

namespace mmafuzz {
namespace {

namespace fs = std::filesystem;

/// Brings files of folder `from` to `to`, with the shard's name before theirs; as links where the file system has them,
/// because a segment may be large.
void bring(const std::string& from, const std::string& to, const std::string& shard) {
  fs::create_directories(to);
  for (const fs::directory_entry& entry : fs::directory_iterator(to)) {  // of an earlier gathering
    const std::string name = entry.path().filename().string();
    if (name.starts_with(shard + ".") && !fs::exists(fs::path(from) / name.substr(shard.size() + 1))) fs::remove(entry);
  }
  for (const fs::path file : sorted_files(from)) {
    if (!fs::is_regular_file(file)) continue;
    const fs::path target = fs::path(to) / (shard + "." + file.filename().string());
    std::error_code failed;
    if (fs::equivalent(file, target, failed)) continue;
    fs::create_hard_link(file, target, failed);
    if (failed) fs::copy_file(file, target, fs::copy_options::overwrite_existing);
  }
}

/// Writes the corpus of an assignment with every input of all shards once.
void bring_corpus(const std::vector<std::string>& folders, const std::string& out, const Assignment& assignment) {
  const std::string corpus = out + "/corpus/" + assignment.corpus_name();
  fs::create_directories(corpus);
  std::set<std::string> names;
  std::string packed;
  const size_t bytes = assignment.op ? encoded_bytes(*assignment.op) : 0;
  for (const std::string& folder : folders) {
    const std::string from = folder + "/corpus/" + assignment.corpus_name();
    size_t offset = 0;
    if (bytes)
      visit_packed_inputs(from, bytes, offset, [&](const std::string& input) {
        if (names.insert(content_name(input)).second) packed += input;
      });
    for (const std::string& file : sorted_files(from)) {
      const std::string input = content_of_file(file);
      if (!input.empty() && names.insert(content_name(input)).second) write_input_file(corpus, input);
    }
  }
  if (bytes) replace_file(corpus + ".inputs", packed);
}

void add(CampaignProgress& whole, const CampaignProgress& shard) {
  whole.elapsed = std::max(whole.elapsed, shard.elapsed);
  whole.time = std::max(whole.time, shard.time);
  whole.restarts += shard.restarts;
  for (const auto& [name, more] : shard.shares) {
    AssignmentProgress& sum = whole.shares[name];
    sum.slices += more.slices;
    sum.cases += more.cases;
    sum.inputs += more.inputs;
    sum.seconds += more.seconds;
    add(sum.answers, more.answers);
    sum.walked = std::max(sum.walked, more.walked);  // shards begin at different places of the walk, and may overlap
  }
}

}  // namespace

GatheredShards gather_shards(const std::string& out, const CampaignSettings& settings, const Plan& plan) {
  GatheredShards gathered;
  const std::vector<std::string> folders = shard_folders(out);
  for (unsigned i = 1; i <= settings.shards; ++i) {
    const std::string name = Shard{i, settings.shards}.name(), folder = out + "/shards/" + name;
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) {
      gathered.not_begun.push_back(name);
      continue;
    }
    if (!fs::exists(folder + "/summary.json")) gathered.not_ended.push_back(name);
    add(gathered.progress, load_progress(folder + "/progress.json"));
    for (const char* subfolder : {"/segments", "/artifacts"}) bring(folder + subfolder, out + subfolder, name);
  }
  std::set<std::string> done;
  uint64_t bins = 0, cases = 0;
  for (const Assignment& assignment : plan.assignments) {
    const std::string field = assignment.corpus_name();
    if (!done.insert(field).second) continue;
    bring_corpus(folders, out, assignment);
    ReachedBins reached;
    for (const std::string& folder : folders) reached.unite(content_of_file(folder + "/bins/" + field));
    if (reached.count()) gathered.progress.bins[field] = reached.count();
    bins += reached.count();
  }
  for (const auto& [name, share] : gathered.progress.shares) cases += share.cases;
  save(gathered.progress, out + "/progress.json");
  // How far the shards had come at each time is not known, only how far at the end.
  replace_file(out + "/samples.tsv", fmt::format("{:.0f}\t{}\t{}\t0\n", gathered.progress.elapsed, cases, bins));
  return gathered;
}

}  // namespace mmafuzz
