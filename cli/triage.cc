// mmafuzz triage: raw divergences of campaigns as buckets, each with its cause and one minimal witness.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "cli/command.h"
#include "cli/deepen.h"
#include "core/divergence_log.h"
#include "triage/triage.h"

namespace mmafuzz::cli {
namespace {

namespace fs = std::filesystem;

/// Segments of a campaign's folder, or the file itself.
std::vector<std::string> segments_of(const std::string& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::exists(path + "/segments") ? path + "/segments" : path))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void print_table(const std::vector<Bucket>& buckets, bool details) {
  fmt::print("{:<10} {:<9} {:>8} {:>3}  {}\n", "bucket", "severity", "count", "n", "property, op, units, values, cause");
  for (const Bucket& b : buckets) {
    std::string units;
    for (const std::string& unit : b.key.units) units += " " + unit;
    fmt::print("{:<10} {:<9} {:>8} {:>3}  {} {}{} {} {}\n", b.id(), name_of(b.severity), b.count, b.addends, b.key.property, b.key.op, units,
               b.key.value_class, b.cause);
    if (details) fmt::print("{:>36}{}\n", "", b.detail);
  }
}

}  // namespace

void add_triage(CLI::App& app, int& status) {
  struct Options {
    std::vector<std::string> paths;
    unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
    uint64_t deepen = 0;
    bool details = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* sub = app.add_subcommand("triage", "Sort raw divergences into buckets with causes and minimal witnesses");
  sub->add_option("paths", options->paths, "campaign folders or segment files")->required()->check(CLI::ExistingPath);
  sub->add_option("--jobs", options->jobs, "threads")->check(CLI::Range(1, 1024))->capture_default_str();
  sub->add_option("--deepen", options->deepen, "cases to search behind each pair's explained causes")->check(unsigned_number())->capture_default_str();
  sub->add_flag("--details", options->details, "print what each cause means");
  sub->footer("Example: mmafuzz triage campaign-folder");
  sub->callback([options, &status] {
    Triage triage(registry(), options->jobs);
    for (const std::string& path : options->paths)
      for (const std::string& segment : segments_of(path)) read_segment(segment, 0, [&](LoggedDivergence d) { triage.add(d); });
    std::vector<Bucket> buckets = triage.finish();
    if (options->deepen && deepen(triage, buckets, options->deepen, 1)) buckets = triage.finish();
    print_table(buckets, options->details);
    for (const auto& [reason, count] : triage.refused()) fmt::print(stderr, "mmafuzz: {} left out: {}\n", count, reason);
    fmt::print("{} divergences, {} buckets\n", triage.added(), buckets.size());
    status = std::any_of(buckets.begin(), buckets.end(), [](const Bucket& b) { return b.severity == Severity::contract; }) ? exit_divergence : exit_ok;
  });
}

}  // namespace mmafuzz::cli
