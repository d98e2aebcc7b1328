// One process that evaluates cases for a unit: mmafuzz's side of the protocol of docs/processes.md.
#pragma once

#include <stdexcept>

#include "core/child_process.h"
#include "core/unit.h"

namespace mmafuzz {

inline constexpr char process_greeting[] = "mmafuzz-process";
inline constexpr int process_protocol = 1;

/// The process did not answer as the protocol says, or said that it failed; what() says how.
struct ProcessFailure : std::runtime_error {
  enum Kind {
    broke,        ///< it ended, or said what the protocol does not allow and was ended
    reported,     ///< it answered `failed REASON` and still runs
    timed_out,    ///< it did not answer in time and was ended
    not_started,  ///< it could not be started, or its greeting was wrong
  };
  explicit ProcessFailure(const std::string& what, Kind kind = broke) : std::runtime_error(what), kind(kind) {}
  Kind kind;
};

/// The byte for each case that a binary answer has behind the results if its line ends in `answered`.
enum class CaseEnd : uint8_t { unknown, answered, broke };

/// What a process says of an op that it takes.
struct ProcessTakes {
  std::string equals;           ///< the unit that it claims to equal; "" for none
  int features = 0;             ///< number of features of its own that it can tell of cases; 0: none
  bool supports_apart = false;  ///< requests `apart`: a case that breaks it leaves the other cases their results
};
inline constexpr int max_process_features = 65536;

class ProcessChild {
 public:
  /// An exchange that takes longer than `patience` is a failure. The first request starts the process.
  ProcessChild(std::vector<std::string> command, std::chrono::milliseconds patience)
      : command_(std::move(command)), patience_(patience) {}

  /// What the process says of an op that it takes, or a refusal with its reason. Throws ProcessFailure.
  Result<ProcessTakes> take(const Op& op);

  /// Evaluates the `count` cases from index `first` on and writes their outcomes at the same indices; outcomes.results
  /// already has the size of the batch. Throws ProcessFailure; if the process has ended, the next call starts it again.
  void run(const Batch& batch, size_t first, size_t count, Outcomes& outcomes) {
    ask("batch", batch, first, count, outcomes);
  }
  /// The same, of a process that supports `apart`: a case that breaks it is marked in outcomes.failed.
  void run_apart(const Batch& batch, size_t first, size_t count, Outcomes& outcomes) {
    ask("apart", batch, first, count, outcomes);
  }

  /// Asks which features (0 to `features` - 1) each case reaches and calls hit(index of the case, feature) for each.
  /// Throws ProcessFailure, perhaps after some calls.
  void observe(const Batch& batch, int features, const std::function<void(size_t, int)>& hit);

 private:
  void start();
  Deadline deadline() const { return std::chrono::steady_clock::now() + patience_; }
  void ask(const char* word, const Batch& batch, size_t first, size_t count, Outcomes& outcomes);
  std::string request_of(const char* word, const Batch& batch, size_t first, size_t count) const;
  /// Makes `op` the op that the process was last told. Throws ProcessFailure if the process refuses it.
  void must_take(const Op& op);
  /// Sends text, waits for one line and returns that without its end.
  std::string line_after(std::string_view text, Deadline deadline);
  std::string next_line(Deadline deadline) { return line_after("", deadline); }
  void read_text(const Op& op, size_t first, size_t count, bool with_flags, Outcomes& outcomes, Deadline deadline);
  void read_binary(const Op& op, size_t first, size_t count, bool with_flags, bool with_answered, Outcomes& outcomes,
                   Deadline deadline);
  /// Fails unless `line`, which stands after the answers to `cases` cases, is the last line of an answer.
  void must_be_end(const std::string& line, size_t cases);
  /// Fails if more was received than was asked for.
  void must_be_silent();
  /// Ends the process and throws ProcessFailure; `did` says what the process did wrong.
  [[noreturn]] void fail(const std::string& did);
  /// The same after a lost connection or, if the deadline has passed, as a late failure.
  [[noreturn]] void fail_after(const std::string& did, Deadline deadline);
  /// Ends the process and returns how it ended, as " (it was killed)"; "" if there was none.
  std::string how_ended(ChildProcess::Why why);

  std::vector<std::string> command_;
  std::chrono::milliseconds patience_;
  ChildProcess child_;
  bool is_binary_ = false;
  std::string op_;        ///< line of the op that the process was last told
  std::string received_;  ///< bytes that were received and not yet consumed
};

}  // namespace mmafuzz
