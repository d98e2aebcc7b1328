// Asks a unit, counts what it is asked, and ends when the unit breaks or the time is over.
#pragma once

#include <chrono>
#include <string>

#include "core/unit.h"
#include "identify/evidence.h"
#include "identify/probes.h"

namespace mmafuzz {

class Asker {
 public:
  struct Limits {
    double seconds = 60;  ///< of asking and thinking
    size_t dots = SIZE_MAX;
  };
  /// `op` is the unit's own, which takes NaNs as they are, also where the evidence takes any for any.
  Asker(const Unit& unit, const Op& op, const Limits& limits);

  /// One round: all cases at once where the unit is fast. Answers join the evidence under their questions, which are
  /// numbered from `first_question` on. False where the round could not be completed: stopped() says why.
  bool ask(const Questions& questions, size_t first_question, Evidence& evidence);

  /// A batch for a comparison, not for the evidence. False as above.
  bool answers(const Batch& batch, Outcomes& outcomes);

  /// Cases that the unit answers in about a second.
  size_t at_once() const;
  size_t dots() const { return dots_; }
  size_t rounds() const { return rounds_; }
  size_t unanswered() const { return unanswered_; }
  double seconds() const;
  double seconds_left() const;
  /// Why no more can be asked; empty while it can.
  const std::string& stopped() const { return stopped_; }

 private:
  const Unit& unit_;
  const Op op_;
  Limits limits_;
  std::chrono::steady_clock::time_point start_;
  size_t dots_ = 0, rounds_ = 0, unanswered_ = 0, failed_ = 0;
  double rate_ = 0;  ///< cases a second, once known
  std::string stopped_;
};

}  // namespace mmafuzz
