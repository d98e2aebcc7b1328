#include "campaign/findings.h"

#include <fmt/core.h>

#include <filesystem>
#include <fstream>

#include "campaign/corpus.h"
#include "core/case_text.h"
#include "core/replace_file.h"

namespace mmafuzz {
namespace {

namespace fs = std::filesystem;

constexpr size_t log_tail = 16384;  ///< bytes of a log that are kept

std::string tail_of(const std::string& file) {
  std::error_code error;
  const uintmax_t size = fs::file_size(file, error);
  return content_of_file(file, error || size <= log_tail ? 0 : size - log_tail);
}

}  // namespace

CampaignFindings::CampaignFindings(std::string folder, FoundBy found_by)
    : folder_(std::move(folder)), found_by_(found_by) {
  follow();
  read_crashes();
  found_by_ = FoundBy::this_run;
}

const CampaignFindings::Entry* CampaignFindings::add(Entry entry) {
  entry.found_by = found_by_;
  const auto [at, is_new] = entries_.try_emplace(entry.line, entry);
  if (!is_new && entry.segment < at->second.segment) {
    at->second.segment = std::move(entry.segment);
    at->second.divergence = std::move(entry.divergence);
  }
  return is_new ? &at->second : nullptr;
}

std::vector<const CampaignFindings::Entry*> CampaignFindings::follow() {
  std::vector<const Entry*> added;
  for (const std::string& segment : sorted_files(folder_ + "/segments", ".cases")) {
    size_t& offset = offsets_[segment];
    std::error_code error;
    if (fs::file_size(segment, error) <= offset || error) continue;
    offset = read_segment(segment, offset, [&](LoggedDivergence divergence) {
      std::string line = divergence.key;
      if (const Entry* entry = add({std::move(line), segment, std::move(divergence)})) added.push_back(entry);
    });
  }
  return added;
}

const CampaignFindings::Entry* CampaignFindings::add_crash(const std::string& assignment, const std::string& what,
                                                           const std::string& command, const std::string& log) {
  const std::string line = fmt::format("mmafuzz: crash {} {}", assignment, what);
  if (entries_.contains(line)) return nullptr;
  replace_file(fmt::format("{}/artifacts/{}.{}.crash.txt", folder_, assignment, entries_.size()),
               fmt::format("{}\n# {}\n{}\n", line, command, tail_of(log)));
  return add({.line = line, .segment = "", .divergence = {}, .is_crash = true});
}

void CampaignFindings::read_crashes() {
  for (const std::string& file : sorted_files(folder_ + "/artifacts", ".crash.txt")) {
    std::ifstream in(file);
    std::string line;
    if (std::getline(in, line)) add({.line = line, .segment = "", .divergence = {}, .is_crash = true});
  }
}

FindingCounts CampaignFindings::count(std::optional<FoundBy> found_by) const {
  FindingCounts counts;
  for (const auto& [line, entry] : entries_) {
    if (found_by && entry.found_by != *found_by) continue;
    if (entry.is_crash) ++counts.crash;
    else if (entry.divergence.severity == Severity::contract) ++counts.contract;
    else if (entry.divergence.severity == Severity::accuracy) ++counts.accuracy;
    else ++counts.semantic;
  }
  return counts;
}

void CampaignFindings::merge(const std::string& file) const {
  std::string text = case_text_start;
  for (const Severity severity : {Severity::contract, Severity::accuracy, Severity::semantic})
    for (const auto& [line, entry] : entries_)
      if (!entry.is_crash && entry.divergence.severity == severity) text += entry.divergence.text;
  replace_file(file, text);
}

}  // namespace mmafuzz
