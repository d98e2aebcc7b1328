// The interface of a fuzz target, which an engine runs. Each target's file defines make_target(). The glue (engine.cc
// for an engine, replay.cc without one, afl_mutator.cc) uses nothing else of the target.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/op.h"
#include "search/byte_codec.h"

namespace mmafuzz {

/// Options of a target, from the environment or from arguments that start with two dashes (libFuzzer ignores those);
/// --help describes them (options.cc). A target of one op writes the bins that it reached to FILE.bins beside the
/// --status FILE (search/reached_bins.h).
struct TargetOptions {
  std::vector<std::string> ops, units;
  std::string segment, status;
  bool keep_going = false;

  /// Reads the environment, then the arguments, which take precedence. Throws std::runtime_error at an unknown option,
  /// or a path whose folder is missing; --help prints and exits.
  static TargetOptions parse(int argc, const char* const* argv);
};

class Target {
 public:
  virtual ~Target() = default;
  /// Runs one input. A contract divergence prints its line and case and aborts, unless --keep-going.
  virtual void run(const uint8_t* data, size_t size) = 0;
  /// Runs a file of case text, of any op that the target's units evaluate; returns the number of cases.
  virtual size_t replay_cases(const std::string& path) = 0;
  /// The cases of a file of case text as inputs, for seed corpora.
  virtual std::vector<std::vector<uint8_t>> encode_cases(const std::string& path) = 0;
  /// An input as case text.
  virtual std::string decode_input(const uint8_t* data, size_t size) = 0;
  /// Changes an input in place; returns its new size in bytes, or 0 to leave this mutation to the engine.
  virtual size_t mutate(uint8_t* data, size_t size, size_t max_size, uint64_t seed) { return 0; }
  /// Writes a combination of two inputs to `out`; returns its size in bytes, or 0 to leave it to the engine.
  virtual size_t cross(const uint8_t* first, size_t first_size, const uint8_t* second, size_t second_size, uint8_t* out,
                       size_t max_size, uint64_t seed) {
    return 0;
  }
  /// Number of kinds of divergence that this process has recorded.
  virtual size_t divergences() const { return 0; }
  /// Called at the end of the process; writes the last counts to --status.
  virtual void finish() {}
};

/// Defined by each target's file.
std::unique_ptr<Target> make_target(const TargetOptions& options);

/// The factor by which an input has more cases than usual, greater where an execution costs the engine more; at most
/// max_neighbour_factor. Defined by the glue.
size_t neighbour_factor();

/// Tells the engine that bin number `bin` was reached on focus slot `slot` (0 to 7). Defined by the glue.
void report_bin(int bin, int slot);

}  // namespace mmafuzz
