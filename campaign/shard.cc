#include "campaign/shard.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "campaign/corpus.h"
#include "core/replace_file.h"
#include "plan/request.h"

namespace mmafuzz {
namespace {

namespace fs = std::filesystem;

constexpr unsigned max_shards = 9999;    ///< names of shards have four digits
constexpr char released[] = "released";  ///< in place of the counter in a file whose owner has ended

/// Identifies a process on this host: host, process namespace, process id, its start time ("gone": no such process).
std::string identity(pid_t pid) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  std::error_code error;
  const std::string space = fs::read_symlink("/proc/self/ns/pid", error).string();
  const std::string stat = content_of_file("/proc/" + std::to_string(pid) + "/stat");
  std::istringstream words(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  constexpr int fields_to_start = 20;  // from the third field on, behind the ')': the start time is field 22 of proc(5)
  std::string word, start;
  for (int i = 0; i < fields_to_start && words >> word; ++i) start = word;
  return fmt::format("{} {} {} {}", host, space.empty() ? "-" : space, pid, start.empty() ? "gone" : start);
}

struct Owner {
  std::string host, space, start, nonce, beats;
  pid_t pid = 0;
};

Owner read_owner(const std::string& file) {
  Owner owner;
  std::ifstream in(file);
  in >> owner.host >> owner.space >> owner.pid >> owner.start >> owner.nonce >> owner.beats;
  return owner;
}

/// What shards must agree on.
nlohmann::json agreement(const CampaignSettings& s) {
  return {{"shards", s.shards},   {"time", s.time}, {"units", s.units}, {"targets", s.targets},
          {"ops", s.ops},         {"with", s.with}, {"cases", s.cases}, {"seed", s.seed},
          {"version", s.version}, {"jobs", s.jobs}, {"plan", s.plan}};
}

}  // namespace

std::string Shard::name() const { return fmt::format("{:04}-of-{:04}", index, count); }

Shard shard_from_text(const std::string& text) {
  Shard shard;
  const char *end = text.data() + text.size(), *at = text.data();
  const auto first = std::from_chars(at, end, shard.index);
  const bool slash = first.ec == std::errc{} && first.ptr != end && *first.ptr == '/';
  const auto second = slash ? std::from_chars(first.ptr + 1, end, shard.count) : first;
  if (!slash || second.ec != std::errc{} || second.ptr != end || shard.index < 1 || shard.index > shard.count ||
      shard.count > max_shards)
    throw BadInput(fmt::format("--shard {}: give I/N, with I from 1 to N and N up to {}", text, max_shards));
  return shard;
}

Plan part_of(const Plan& plan, const Shard& shard) {
  if (!shard) return plan;
  double whole = 0;
  for (const Assignment& assignment : plan.assignments) whole += assignment.seconds;
  const double piece = whole / shard.count, begin = piece * (shard.index - 1), end = piece * shard.index;
  std::vector<Assignment> pieces;
  double position = 0;  // on the line of assignments
  for (const Assignment& assignment : plan.assignments) {
    const double low = std::clamp((begin - position) / assignment.seconds, 0.0, 1.0);
    const double high = std::clamp((end - position) / assignment.seconds, 0.0, 1.0);
    position += assignment.seconds;
    if (high <= low) continue;
    const auto cases_to = [&](double fraction) {
      return static_cast<uint64_t>(fraction * static_cast<double>(assignment.cases) + 0.5);
    };
    Assignment& cut = pieces.emplace_back(assignment);
    cut.seconds *= high - low;
    cut.cases = cases_to(high) - cases_to(low);
    cut.begins_at = low;
    if (assignment.cases && !cut.cases) pieces.pop_back();
  }
  // A piece much shorter than least_slice would find nothing; a neighbouring shard has the rest of the assignment.
  Plan part;
  part.notes = plan.notes;
  for (Assignment assignment : pieces) {
    const double least = least_slice(assignment.engine);
    if (!assignment.cases && pieces.size() > 1 && assignment.seconds < least / 2) continue;
    assignment.seconds = std::max(assignment.seconds, least);
    part.assignments.push_back(std::move(assignment));
  }
  if (part.assignments.empty()) part.assignments = std::move(pieces);
  return part;
}

std::string plan_words(const Plan& plan) {
  std::string names;
  std::map<std::string, size_t> engines;
  for (const Assignment& assignment : plan.assignments) {
    names += assignment.name() + "\n";
    ++engines[name_of(assignment.engine)];
  }
  std::string words;
  for (const auto& [engine, count] : engines) words += fmt::format("{} {}, ", count, engine);
  return words + content_name(names).substr(0, 8);
}

std::vector<std::string> shard_folders(const std::string& out) {
  std::vector<std::string> folders = sorted_files(out + "/shards");
  std::erase_if(folders, [](const std::string& folder) { return !fs::exists(folder + "/campaign.json"); });
  return folders;
}

void agree(CampaignSettings& settings, const std::string& out) {
  const std::string file = out + "/campaign.json";
  CampaignSettings common = settings;
  common.shard = 0;
  std::string process = identity(getpid());
  std::replace(process.begin(), process.end(), ' ', '.');
  const std::string draft = file + "." + process + ".draft";
  save(common, draft);
  const bool is_first = link(draft.c_str(), file.c_str()) == 0;  // atomic: one process creates it, and whole
  const int error = errno;
  unlink(draft.c_str());
  if (is_first) return;
  if (error != EEXIST) throw BadInput("cannot write " + file + ": " + std::strerror(error));
  const CampaignSettings first = load_settings(file);
  if (!first.shards) throw BadInput(out + " holds a campaign without shards: give another --out");
  const nlohmann::json mine = agreement(settings), theirs = agreement(first);
  for (const auto& [name, value] : theirs.items())
    if (mine.at(name) != value)
      throw BadInput(fmt::format("{} was started with {} {}, not {}: all shards take the same options", out, name,
                                 value.dump(), mine.at(name).dump()));
  settings.uuid = first.uuid;
  settings.started = first.started;
}

ShardLease::ShardLease(const std::string& folder, double patience) : file_(folder + "/owner") {
  const Owner owner = read_owner(file_);
  std::random_device random;
  owner_ = identity(getpid()) + fmt::format(" {:08x}{:08x}", random(), random());
  Owner me;
  std::istringstream(owner_) >> me.host >> me.space;
  const auto refuse = [&] {
    throw BadInput(
        fmt::format("process {} on {} works on {}: a shard has one process at a time", owner.pid, owner.host, folder));
  };
  if (!owner.beats.empty() && owner.beats != released) {
    if (owner.host == me.host && owner.space == me.space) {
      const bool lives = kill(owner.pid, 0) == 0 || errno == EPERM;
      if (lives && identity(owner.pid).ends_with(" " + owner.start)) refuse();
    } else {
      const auto begin = std::chrono::steady_clock::now();
      while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < patience) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        const Owner now = read_owner(file_);
        if (now.beats == released) break;
        if (!now.beats.empty() && (now.beats != owner.beats || now.nonce != owner.nonce)) refuse();
      }
    }
  }
  write();
}

void ShardLease::write() { replace_file(file_, fmt::format("{} {}\n", owner_, ++beats_)); }

bool ShardLease::beat() {
  const Owner now = read_owner(file_);
  is_mine_ = is_mine_ && (now.nonce.empty() || owner_.ends_with(now.nonce));
  if (is_mine_) write();
  return is_mine_;
}

ShardLease::~ShardLease() {
  try {
    if (beat()) replace_file(file_, owner_ + " " + released + "\n");
  } catch (const std::exception&) {}  // a folder that is gone has no owner
}

}  // namespace mmafuzz
