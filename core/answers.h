// How many cases each unit was asked, and how many it answered: an unanswered case was compared with nothing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/batch.h"

namespace mmafuzz {

/// Counts of cases. The unit broke on those that failed; asked - answered - failed are left without an answer.
struct AnswerCount {
  uint64_t asked = 0, answered = 0, failed = 0;

  void add(const Outcomes& outcomes);
  AnswerCount& operator+=(const AnswerCount& more);
  /// Whether the unit neither answered nor broke on any case. A unit that breaks is a finding; a silent one would look
  /// like one that agrees.
  bool is_silent() const { return asked > 0 && answered == 0 && failed == 0; }
};

/// Keyed by the unit's name, to which a caller may add the op.
using AnswerCounts = std::map<std::string, AnswerCount>;
void add(AnswerCounts& all, const AnswerCounts& more);

/// A line "answers ASKED ANSWERED FAILED UNIT" for each unit, as in the status file of a campaign's worker.
std::string to_text(const AnswerCounts& counts);

/// Whether one of the units broke on a case.
bool any_broke(const AnswerCounts& counts);

/// A sentence, without a full stop, for each unit that did not answer every case that it was asked.
std::vector<std::string> missing_answers(const AnswerCounts& counts);
/// The message with which a command fails because of silent units; it names the first. "" where no unit is silent.
std::string silence_message(const AnswerCounts& counts);

}  // namespace mmafuzz
