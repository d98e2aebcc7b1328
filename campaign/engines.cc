#include "campaign/engines.h"

#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "campaign/corpus.h"
#include "core/case_text.h"
#include "core/child_process.h"
#include "core/text.h"
#include "plan/corpus_folder.h"
#include "search/byte_codec.h"

namespace mmafuzz {
namespace {

namespace fs = std::filesystem;

constexpr double cases_of_shared_walk = 1e12;  ///< more than a campaign walks, so that two shards do not meet

/// The environment variables that every engine's build of a target reads (fuzz_targets/target.h).
std::vector<std::pair<std::string, std::string>> target_environment(const WorkerRun& run,
                                                                    const CampaignSettings& settings) {
  std::vector<std::pair<std::string, std::string>> environment = {
      {"MMAFUZZ_SEGMENT", run.segment()}, {"MMAFUZZ_STATUS", run.status()}, {"MMAFUZZ_KEEP_GOING", "1"}};
  if (run.assignment->op) environment.push_back({"MMAFUZZ_OPS", op_words(*run.assignment->op)});
  if (!settings.units.empty()) environment.push_back({"MMAFUZZ_UNITS", joined(settings.units, ",")});
  return environment;
}

void append(std::vector<std::string>& command, std::initializer_list<std::string> words) {
  command.insert(command.end(), words);
}

/// Greatest length of an engine's input. The inputs of a target without ops are texts, which may have 4096 bytes.
size_t input_bytes(const Assignment& assignment) { return assignment.op ? encoded_bytes(*assignment.op) : 4096; }

/// The seed of an engine, which takes 31 bits.
std::string engine_seed(const WorkerRun& run) { return std::to_string(run.seed & 0x7fffffff); }

void seed_empty_corpus(const WorkerRun& run) {
  fs::create_directories(run.corpus());
  if (fs::directory_iterator(run.corpus()) != fs::directory_iterator()) return;
  const std::string text = run.assignment->op
                               ? std::string(input_bytes(*run.assignment), '\0')
                               : case_text_start + std::string("op convert from=fp32 to=fp16\n3f800000\n");
  std::ofstream(run.corpus() + "/seed", std::ios::binary) << text;
}

ProcessSpec batch_process(const WorkerRun& run, const CampaignSettings& settings) {
  if (own_executable().empty()) throw std::runtime_error("cannot start a worker: /proc is not mounted here");
  ProcessSpec spec;
  spec.command = {own_executable(), "campaign-worker",
                  "--target",       run.assignment->target->name,
                  "--op",           to_text(*run.assignment->op),
                  "--corpus",       run.corpus(),
                  "--segment",      run.segment(),
                  "--status",       run.status(),
                  "--seed",         std::to_string(run.seed)};
  for (const std::string& unit : settings.units) append(spec.command, {"--units", unit});
  if (settings.cases) append(spec.command, {"--cases", std::to_string(run.assignment->cases), "--alone"});
  if (run.seconds > 0 && !settings.cases) append(spec.command, {"--time", fmt::format("{:.3f}", run.seconds)});
  if (run.writes_files) spec.command.push_back("--files");
  const uint64_t walk_begins =
      run.walked_before + static_cast<uint64_t>(run.assignment->begins_at * cases_of_shared_walk);
  if (walk_begins && !settings.cases) append(spec.command, {"--earlier", std::to_string(walk_begins)});
  spec.memory_bytes = settings.memory_mb << 20;
  return spec;
}

/// An engine's dictionary of the target, where the checkout or the installation has one.
std::string dictionary_of(const std::string& target) {
  const std::string file = default_corpus_folder() + "/" + target + "/" + target + ".dict";
  return fs::exists(file) ? file : "";
}

ProcessSpec libfuzzer_process(const WorkerRun& run, const CampaignSettings& settings) {
  seed_empty_corpus(run);
  ProcessSpec spec;
  spec.command = {run.assignment->binary,
                  run.corpus(),
                  "-reload=1",
                  "-len_control=0",
                  "-entropic=0",  // its weights cost a tenth of the time and gain no bins
                  fmt::format("-max_len={}", input_bytes(*run.assignment)),
                  "-seed=" + engine_seed(run),
                  fmt::format("-rss_limit_mb={}", settings.memory_mb),
                  "-timeout=60",
                  fmt::format("-artifact_prefix={}/artifacts/{}-", run.folder, run.id)};
  if (const std::string words = dictionary_of(run.assignment->target->name); !words.empty())
    spec.command.push_back("-dict=" + words);
  // libFuzzer counts whole seconds and ends when one more than asked for has passed.
  if (run.seconds > 0)
    spec.command.push_back(fmt::format("-max_total_time={:.0f}", std::max(1.0, std::ceil(run.seconds) - 1)));
  spec.environment = target_environment(run, settings);
  return spec;
}

ProcessSpec afl_process(const WorkerRun& run, const CampaignSettings& settings) {
  seed_empty_corpus(run);
  fs::create_directories(run.afl_output());
  ProcessSpec spec;
  spec.command = {"afl-fuzz", "-M", "main", "-i", run.corpus(), "-o", run.afl_output(), "-F", run.corpus()};
  append(spec.command, {"-t", "10000", "-m", "none", "-s", engine_seed(run)});
  append(spec.command, {"-G", std::to_string(input_bytes(*run.assignment))});
  if (const std::string words = dictionary_of(run.assignment->target->name); !words.empty())
    append(spec.command, {"-x", words});
  if (run.seconds > 0) append(spec.command, {"-V", fmt::format("{:.0f}", std::ceil(run.seconds))});
  append(spec.command, {"--", run.assignment->binary});
  spec.environment = target_environment(run, settings);
  for (const char* name : {"AFL_NO_UI", "AFL_SKIP_CPUFREQ", "AFL_NO_AFFINITY", "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES",
                           "AFL_AUTORESUME", "AFL_FAST_CAL"})
    spec.environment.push_back({name, "1"});
  spec.environment.push_back({"AFL_CUSTOM_MUTATOR_LIBRARY", run.assignment->binary + "_mutator.so"});
  return spec;
}

/// Copies AFL++'s files that are not in `to` yet and that it found itself, not taken from the corpus ("sync:"). Returns
/// how many.
size_t copy_new(const std::string& from, const fs::path& to, const std::string& prefix) {
  size_t copied = 0;
  for (const std::string& file : sorted_files(from)) {
    const std::string name = fs::path(file).filename().string();
    if (!name.starts_with("id:") || name.find("sync:") != std::string::npos) continue;
    const fs::path target = to / (prefix + name);
    std::error_code failed;
    if (!fs::exists(target) && fs::copy_file(file, target, failed)) ++copied;
  }
  return copied;
}

}  // namespace

ProcessSpec worker_process(const WorkerRun& run, const CampaignSettings& settings) {
  fs::create_directories(run.corpus());
  ProcessSpec spec = run.assignment->engine == Engine::batch       ? batch_process(run, settings)
                     : run.assignment->engine == Engine::libfuzzer ? libfuzzer_process(run, settings)
                                                                   : afl_process(run, settings);
  spec.log = run.log();
  spec.environment.push_back({"MMAFUZZ_PROCESS_FAILURES", run.folder + "/artifacts"});
  return spec;
}

size_t collect_afl(const WorkerRun& run) {
  copy_new(run.afl_output() + "/main/queue", run.corpus(), run.id.substr(run.id.rfind('.') + 1) + "-");
  return copy_new(run.afl_output() + "/main/crashes", run.folder + "/artifacts", run.id + "-");
}

std::string command_text(const ProcessSpec& spec) {
  std::string line;
  for (const auto& [name, value] : spec.environment) line += name + "=" + shell_word(value) + " ";
  for (const std::string& word : spec.command) line += shell_word(word) + " ";
  line.pop_back();
  return line;
}

}  // namespace mmafuzz
