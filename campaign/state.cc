#include "campaign/state.h"

#include "core/json_text.h"
#include "core/parallel.h"
#include "core/replace_file.h"
#include "core/text.h"
#include "plan/request.h"
#include "plan/version.h"

#include <fmt/core.h>
#include <sys/utsname.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>

namespace mmafuzz {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(CampaignSettings, time, jobs, units, targets, ops, with, engine_folders,
                                                seed, cases, memory_mb, fail_on, stop_on, shard, shards, plan, uuid,
                                                command, machine, version, started)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(AnswerCount, asked, answered, failed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(AssignmentProgress, slices, cases, inputs, seconds, answers, walked,
                                                begun, cases_before, corpus_before, answers_before)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(CampaignProgress, elapsed, time, restarts, shares, bins)

namespace {

template <class T>
T load(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file);
  try {
    return nlohmann::json::parse(in).get<T>();
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(file + " is damaged: " + error.what());
  }
}

/// This process's command as a shell takes it. It is for people, so bytes that are not UTF-8 may be replaced.
std::string command_line_of_this_process() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text;
  for (std::string word; std::getline(file, word, '\0');) {
    text += (text.empty() ? "" : " ") + shell_word(word);
  }
  return nlohmann::json::parse(json_text(nlohmann::json(text)));
}

}  // namespace

void set_identity(CampaignSettings& settings) {
  std::random_device random;
  for (int i = 0; i < 4; ++i) settings.uuid += fmt::format("{:08x}", random());
  settings.started = std::time(nullptr);
  settings.command = command_line_of_this_process();
  settings.version = version_number();
  utsname system = {};
  uname(&system);
  std::string processor = system.machine;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    processor = line.substr(line.find(':') + 2);
    break;
  }
  settings.machine = fmt::format("{}, {} cores, {} {}", processor, hardware_threads(), system.sysname, system.release);
}

void save(const CampaignSettings& settings, const std::string& file) {
  std::string text;
  try {
    text = nlohmann::json(settings).dump(2) + "\n";  // workers read the names, so nothing may be replaced
  } catch (const nlohmann::json::type_error&) {
    throw BadInput("names of units, ops and folders of engines must be UTF-8");
  }
  replace_file(file, text);
}
void save(const CampaignProgress& progress, const std::string& file) {
  replace_file(file, nlohmann::json(progress).dump(2) + "\n");
}
CampaignSettings load_settings(const std::string& file) {
  CampaignSettings settings = load<CampaignSettings>(file);
  if (settings.uuid.empty())
    settings.uuid = "campaign:" + std::filesystem::absolute(file).string();  // files of early versions have no uuid
  return settings;
}
CampaignProgress load_progress(const std::string& file) {
  return std::filesystem::exists(file) ? load<CampaignProgress>(file) : CampaignProgress{};
}

WorkerStatus read_status(const std::string& file) {
  WorkerStatus status;
  std::ifstream in(file);
  for (std::string word; in >> word;) {
    if (word == "seconds") in >> status.seconds;
    else if (word == "inputs") in >> status.inputs;
    else if (word == "cases") in >> status.cases;
    else if (word == "bins") in >> status.bins;
    else if (word == "divergences") in >> status.divergences;
    else if (word == "done") in >> status.done;
    else if (word == "newest") std::getline(in >> std::ws, status.newest);
    else if (word == "answers") {
      AnswerCount count;
      std::string unit;
      in >> count.asked >> count.answered >> count.failed >> std::ws;
      if (std::getline(in, unit)) status.answers[unit] = count;
    }
  }
  return status;
}

}  // namespace mmafuzz
