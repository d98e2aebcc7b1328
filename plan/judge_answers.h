// How a command ends whose units did not answer everything.
#pragma once

#include "core/answers.h"

namespace mmafuzz {

/// Says on standard error what was not answered. Returns `code`, or exit_divergence in place of exit_ok where a unit
/// broke on a case. Where the code would be exit_ok and a unit answered nothing, throws BadInput.
int judge_answers(const AnswerCounts& counts, int code);

}  // namespace mmafuzz
