// A fuzz target: what an engine runs. Each target's file defines make_target(); the engine's glue (engine.cc) and the
// plain replayer (replay.cc) know nothing else of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/op.h"
#include "search/byte_codec.h"

namespace mmafuzz {

/// Options of a target, from arguments that start with two dashes (libFuzzer leaves those alone) or the environment;
/// --help tells them (options.cc). Beside the --status of one op is FILE.bins with the bins that were reached
/// (search/reached_bins.h).
struct TargetOptions {
  std::vector<std::string> ops, units;
  std::string segment, status;
  bool keep_going = false;

  /// Takes what it knows from the arguments, then from the environment. Throws std::runtime_error on an option that it
  /// does not know.
  static TargetOptions parse(int argc, const char* const* argv);
};

class Target {
 public:
  virtual ~Target() = default;
  /// Runs one input. A contract divergence prints its greppable line and aborts, unless --keep-going.
  virtual void run(const uint8_t* data, size_t size) = 0;
  /// Runs a file of case text, of any op that the target's units evaluate; returns the number of cases.
  virtual size_t replay_cases(const std::string& path) = 0;
  /// Inputs that hold the cases of a file, for seed corpora.
  virtual std::vector<std::vector<uint8_t>> encode_cases(const std::string& path) = 0;
  /// Case text of one input.
  virtual std::string decode_input(const uint8_t* data, size_t size) = 0;
  /// Changes an input in place; returns its new size, 0 if this target leaves mutation to the engine.
  virtual size_t mutate(uint8_t* data, size_t size, size_t max_size, uint64_t seed) { return 0; }
  virtual size_t cross(const uint8_t* first, size_t first_size, const uint8_t* second, size_t second_size, uint8_t* out,
                       size_t max_size, uint64_t seed) {
    return 0;
  }
  /// Divergences recorded so far by this process.
  virtual size_t divergences() const { return 0; }
  /// The engine ends: the last counts go to --status.
  virtual void finish() {}
};

/// Defined by each target's file.
std::unique_ptr<Target> make_target(const TargetOptions& options);

/// How many times the usual number of neighbours an input stands for, by what the engine pays for an execution: at most
/// most_neighbour_factor. Defined by the glue.
size_t neighbour_factor();

/// Functional coverage's way to the engine: bin `bin` was reached on focus slot 0..7. Defined by the glue.
void report_bin(int bin, int slot);

}  // namespace mmafuzz
