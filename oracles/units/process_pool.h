// The processes of one command: each thread that evaluates cases takes one, so that they run beside each other. The
// pool counts failures, and gives up a command that answers nothing any more.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "oracles/units/process_child.h"

namespace mmafuzz {

class ProcessPool {
 public:
  /// The pool of that command; there is one for all ops, but each time another where it is to be fresh.
  static std::shared_ptr<ProcessPool> of(const std::vector<std::string>& command, std::chrono::milliseconds patience,
                                         bool fresh);

  /// Whether the command takes an op, asked once: what it says of it, or a refusal with its reason.
  Result<ProcessTakes> take(const Op& op);

  /// A process for one thread, until it is given back.
  std::unique_ptr<ProcessChild> borrow();
  void give_back(std::unique_ptr<ProcessChild> child);

  /// Notes how many cases of a batch were answered in the end; `died`: of several cases none, the process died instead.
  void note_batch(size_t answered, bool died = false);
  /// Whether it died in the batch before and answered no case of it.
  bool is_dying();
  void note_failure(ProcessFailure::Kind kind);
  /// Whether features are asked for: until the first time that they did not come. True from `lose_features` the first
  /// time alone.
  bool tells_features();
  bool lose_features();
  /// Why nothing is asked of the command any more; "" while it takes part.
  std::string given_up();

  /// Batches that failed so far, this one included.
  uint64_t count_failed_batch();

 private:
  ProcessPool(std::vector<std::string> command, std::chrono::milliseconds patience)
      : command_(std::move(command)), patience_(patience) {}

  std::vector<std::string> command_;
  std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ProcessChild>> idle_;
  std::map<std::string, Result<ProcessTakes>> taken_;  ///< by op line
  std::optional<Refusal> unusable_;                    ///< it never answered
  uint64_t failed_batches_ = 0, unanswered_in_a_row_ = 0, died_in_a_row_ = 0, late_ = 0, not_started_in_a_row_ = 0;
  bool tells_features_ = true;
};

}  // namespace mmafuzz
