// A survey of the device at hand: a plan of steps in descending order of what they decide per second, each with a time
// limit of its own, none able to stop the others.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "core/case_text.h"
#include "core/registry.h"
#include "gpu_bridge/device/device_child.h"
#include "gpu_bridge/instructions/instructions.h"
#include "survey/book.h"

namespace mmafuzz::survey {

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}
/// Negative where the time has passed.
inline double seconds_until(Clock::time_point end) { return -seconds_since(end); }
/// The time that lies so many seconds after `start`.
inline Clock::time_point seconds_after(Clock::time_point start, double seconds) {
  return start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

struct Options {
  std::vector<std::string> units = {"*"};  ///< globs of unit names
  std::vector<std::string> parts;          ///< globs of names of parts() to run; empty: all
  double seconds = 480;                    ///< for the whole survey
  uint64_t seed = 1;
  double patience = 10;  ///< seconds that a call of the device may take beyond its step's limit
  std::vector<uint64_t> sizes = {1024, 2048, 4096, 8192};  ///< n of the n x n x n products of the part dgemm
  std::string corpus = "corpus", observations;             ///< folders of case files
  std::string output, recorded_by;                         ///< folder; name for the files
  std::string program;                                     ///< this executable, for tools that run it
};

/// What every step can use.
struct Context {
  const Options& options;
  const Registry& registry;
  std::shared_ptr<DeviceChild> child;
  Book& book;
  Clock::time_point start, end;                  ///< no step continues beyond the end
  Clock::time_point last_call;                   ///< by then, a call that is in flight at the end must return
  unsigned arch = 0;                             ///< bit of the device's architecture
  std::string family;                            ///< of the models that describe the device: "hopper"
  std::vector<const Instruction*> instructions;  ///< that the device has, of units that options.units name

  /// Seconds of a survey of 480 seconds, scaled down with a shorter one.
  double scaled(double seconds) const { return seconds * std::min(1.0, options.seconds / 480); }
};

struct Step {
  std::string name, kind, unit;  ///< kind: of a table of the note; unit: "" for none
  double limit = 0;              ///< seconds
  /// Adds to `result`. Throws DeviceLost, OutOfTime at the deadline, or anything else where the step failed.
  std::function<void(Json& result, Clock::time_point deadline)> work;
};

/// A step was not finished in its time: its results so far are kept, and nothing is wrong.
struct OutOfTime : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The parts of the plan, in order. Each makes its steps when it is its turn, from what is known by then.
struct Part {
  const char* name;
  std::vector<Step> (*steps)(Context& context);
};
const std::vector<Part>& parts();

std::vector<Step> control_steps(Context& context);
std::vector<Step> discriminator_steps(Context& context);
std::vector<Step> published_steps(Context& context);
std::vector<Step> short_sweep_steps(Context& context);
std::vector<Step> core_steps(Context& context);
std::vector<Step> conversion_steps(Context& context);
std::vector<Step> ozaki_steps(Context& context);
std::vector<Step> cublas_steps(Context& context);
std::vector<Step> dgemm_steps(Context& context);
std::vector<Step> sanitizer_steps(Context& context);
std::vector<Step> long_sweep_steps(Context& context);
std::vector<Step> rate_steps(Context& context);

/// Runs the plan. Returns the exit code: 1 for divergences and unstable results, 2 where there is no device, or where
/// without these something was lost or failed, else 0.
int run(const Options& options, const Registry& registry, const std::shared_ptr<DeviceChild>& child);

/// Whether one of options.units names the unit.
bool selected(const Context& context, const std::string& unit);

/// "dot a=fp16 ...: 3c00 | ...: 3f800000, SOURCE 3f800001": a dot's case, its result, and the other one of `source`.
inline std::string difference_text(const Batch& batch, size_t index, uint64_t result, const std::string& source,
                                   uint64_t other) {
  return to_text(batch.op()) + ": " + case_line(batch, index) + ": " + to_hex(batch.op().d, result) + ", " + source +
         " " + to_hex(batch.op().d, other);
}

/// Runs a unit; throws DeviceLost where a case has no answer.
void run_or_lose(const Context& context, const Unit& unit, const Batch& batch, Outcomes& outcomes);

}  // namespace mmafuzz::survey
