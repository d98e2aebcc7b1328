// How many of the cases that units were asked they answered: what a unit did not answer was compared with nothing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/batch.h"

namespace mmafuzz {

struct AnswerCount {
  uint64_t asked = 0, answered = 0, failed = 0;

  void add(const Outcomes& outcomes);
  AnswerCount& operator+=(const AnswerCount& more);
  /// A unit that breaks on cases is a finding; one that only says nothing looks like one that agrees.
  bool is_silent() const { return asked > 0 && answered == 0 && failed == 0; }
};

/// By unit.
using AnswerCounts = std::map<std::string, AnswerCount>;
void add(AnswerCounts& all, const AnswerCounts& more);

/// A line for each unit, as a worker's status has them: answers ASKED ANSWERED FAILED UNIT.
std::string to_text(const AnswerCounts& counts);

/// Whether one of them broke on a case.
bool any_broke(const AnswerCounts& counts);

/// A sentence for each unit that did not answer all that it was asked, without a full stop.
std::vector<std::string> missing_answers(const AnswerCounts& counts);
/// The first unit that is silent, as a sentence that ends a command; "" where there is none.
std::string silent_unit(const AnswerCounts& counts);

}  // namespace mmafuzz
