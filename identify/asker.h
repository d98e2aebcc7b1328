// Asks a unit, and counts its cases and answers. The asking stops for good when the unit fails, or when the time or the
// number of dots is used up.
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
    double seconds = 60;     ///< since the constructor, whatever they are used for
    size_t dots = SIZE_MAX;  ///< maximum number of cases
  };
  /// `op` is the one to which the unit is bound. Evidence and batches may be of the same op with nan=any.
  Asker(const Unit& unit, const Op& op, const Limits& limits);

  /// Asks a round of questions, in batches of at_once() cases. Answers join the evidence; the question with the index q
  /// has the number first_question + q there. False where the round was not completed: stopped() says why.
  bool ask(const Questions& questions, size_t first_question, Evidence& evidence);

  /// The unit's answers to a batch, which do not join the evidence. False where the asking has stopped; the time limit
  /// alone does not stop it here.
  bool answers(const Batch& batch, Outcomes& outcomes);

  /// The number of cases that the unit answers in a second, by its last batch; 1 before the first.
  size_t at_once() const;
  size_t dots() const { return dots_; }              ///< cases asked
  size_t rounds() const { return rounds_; }          ///< calls of ask()
  size_t unanswered() const { return unanswered_; }  ///< cases without an answer
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
  double rate_ = 0;  ///< cases per second of the last batch; 0 before the first
  std::string stopped_;
};

}  // namespace mmafuzz
