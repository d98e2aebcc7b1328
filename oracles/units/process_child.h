// One process that evaluates cases for a unit: the conversation of docs/processes.md, from this side.
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
    broke,
    said,         ///< it said so itself, and is there still
    late,         ///< it hangs, or is slow
    not_started,  ///< it could not be started, or its first words were wrong
  };
  explicit ProcessFailure(const std::string& what, Kind kind = broke) : std::runtime_error(what), kind(kind) {}
  Kind kind;
};

/// What a process says of each case behind `answered`.
enum class CaseEnd : uint8_t { unknown, answered, broke };

/// What a process says of an op that it takes.
struct ProcessTakes {
  std::string equals;  ///< the unit that it claims to equal; "" for none
  int features = 0;    ///< how many features of its own it tells; 0: none
  bool apart = false;  ///< it can evaluate cases so that one that breaks it leaves the others
};
inline constexpr int most_process_features = 65536;

class ProcessChild {
 public:
  /// An exchange that takes longer than `patience` is a failure. Nothing is started before it is needed.
  ProcessChild(std::vector<std::string> command, std::chrono::milliseconds patience)
      : command_(std::move(command)), patience_(patience) {}

  /// What the process says of an op, or why it does not take it. Throws ProcessFailure.
  Result<ProcessTakes> take(const Op& op);

  /// Evaluates `count` cases from case `first` on and writes their outcomes, which have their size already. Throws
  /// ProcessFailure; the next call starts the process again where it is gone.
  void run(const Batch& batch, size_t first, size_t count, Outcomes& outcomes) {
    ask("batch", batch, first, count, outcomes);
  }
  /// The same of a process that says `apart`: what breaks it fails alone.
  void run_apart(const Batch& batch, size_t first, size_t count, Outcomes& outcomes) {
    ask("apart", batch, first, count, outcomes);
  }

  /// Asks which of its `features` each case reaches. Throws ProcessFailure.
  void observe(const Batch& batch, int features, const std::function<void(size_t, int)>& hit);

 private:
  void start();
  Deadline deadline() const { return std::chrono::steady_clock::now() + patience_; }
  void ask(const char* word, const Batch& batch, size_t first, size_t count, Outcomes& outcomes);
  std::string request_of(const char* word, const Batch& batch, size_t first, size_t count) const;
  void must_take(const Op& op);
  /// Sends text and waits for one line, which is returned without its end.
  std::string line_after(std::string_view text, Deadline deadline);
  std::string next_line(Deadline deadline) { return line_after("", deadline); }
  void read_text(const Op& op, size_t first, size_t count, bool with_flags, Outcomes& outcomes, Deadline deadline);
  void read_binary(const Op& op, size_t first, size_t count, bool with_flags, bool with_answered, Outcomes& outcomes,
                   Deadline deadline);
  /// Ends the process and throws: it `did` what it should not.
  [[noreturn]] void fail(const std::string& did);
  /// The same where the connection was lost, or nothing came in time.
  [[noreturn]] void fail_after(const std::string& did, Deadline deadline);
  std::string how_ended(ChildProcess::Why why);  ///< " (it was killed)"

  std::vector<std::string> command_;
  std::chrono::milliseconds patience_;
  ChildProcess child_;
  bool binary_ = false;
  std::string op_;        ///< line of the op that the process was last told
  std::string received_;  ///< what was not used up
};

}  // namespace mmafuzz
