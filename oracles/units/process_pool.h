// The processes of one command. Each thread that evaluates cases borrows one of them, so that threads run in parallel.
// The pool counts failures; once a count reaches its limit, why_given_up() says so and the command is asked nothing
// more.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "oracles/units/process_child.h"

namespace mmafuzz {

class ProcessPool {
 public:
  using Patience = std::chrono::milliseconds;  ///< the timeout of each exchange
  /// A new pool of a command.
  static std::shared_ptr<ProcessPool> make(const std::vector<std::string>& command, Patience patience) {
    return std::shared_ptr<ProcessPool>(new ProcessPool(command, patience));
  }
  /// The pool of a command with that patience: one for all ops and callers.
  static std::shared_ptr<ProcessPool> shared(const std::vector<std::string>& command, Patience patience);

  /// What the process says of an op, or a refusal with its reason; it is asked until it has answered the op line once.
  /// If an exchange fails, the process is ended; before any op was answered, every later op is refused with the
  /// failure.
  Result<ProcessTakes> take(const Op& op);

  /// A process, idle or new, that belongs to the caller until it is given back.
  std::unique_ptr<ProcessChild> borrow();
  void give_back(std::unique_ptr<ProcessChild> child);

  /// Counts a finished batch of which `answered` cases have results. `died`: in a batch of several cases the process
  /// ended, hung or broke the protocol instead of reporting a failure; this counts if no case was answered.
  void note_batch(size_t answered, bool died = false);
  /// Whether a batch was noted as `died` since the last batch with an answer.
  bool is_dying();
  /// Counts a failed exchange.
  void note_failure(ProcessFailure::Kind kind);
  /// Whether features are to be asked for: true until lose_features() is called.
  bool tells_features();
  /// Notes that features did not come. Returns true at the first call alone.
  bool lose_features();
  /// Why the command is to be asked nothing more; "" while it takes part.
  std::string why_given_up();

  /// Counts a failed batch and returns the number of failed batches so far.
  uint64_t count_failed_batch();

 private:
  ProcessPool(std::vector<std::string> command, Patience patience)
      : command_(std::move(command)), patience_(patience) {}

  std::vector<std::string> command_;
  Patience patience_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ProcessChild>> idle_;
  std::map<std::string, Result<ProcessTakes>> taken_;  ///< by op line
  std::optional<Refusal> unusable_;                    ///< the failure that came before any answer
  uint64_t failed_batches_ = 0, unanswered_in_a_row_ = 0, died_since_answer_ = 0, late_ = 0, not_started_in_a_row_ = 0;
  bool tells_features_ = true;
};

}  // namespace mmafuzz
