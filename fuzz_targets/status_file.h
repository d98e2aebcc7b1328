// The file of counts (--status) that a target under an engine rewrites for its caller, about every second and at the
// end.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>

#include "core/answers.h"
#include "core/replace_file.h"

namespace mmafuzz {

struct TargetCounts {
  uint64_t inputs = 0, cases = 0, bins = 0, divergences = 0;
  std::string newest_bin;
  AnswerCounts answers;
};

class StatusFile {
 public:
  /// With an empty path nothing is written.
  explicit StatusFile(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  bool is_wanted() const { return !path_.empty(); }
  /// Whether a second has passed since the last write. Reads the clock, which is too slow after every input.
  bool is_due() const { return is_wanted() && seconds() - last_ >= 1; }
  /// Ignores failures: a search goes on without its status, because findings are recorded elsewhere.
  void write(const TargetCounts& counts) {
    if (!is_wanted()) return;
    last_ = seconds();
    try {
      replace_file(path_, "seconds " + std::to_string(last_) + "\ninputs " + std::to_string(counts.inputs) +
                              "\ncases " + std::to_string(counts.cases) + "\nbins " + std::to_string(counts.bins) +
                              "\ndivergences " + std::to_string(counts.divergences) + "\n" + to_text(counts.answers) +
                              "newest " + counts.newest_bin + "\n");
    } catch (const std::runtime_error&) {}
  }

 private:
  using Clock = std::chrono::steady_clock;
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  std::string path_;
  Clock::time_point start_ = Clock::now();
  double last_ = 0;
};

}  // namespace mmafuzz
