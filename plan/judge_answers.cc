#include "plan/judge_answers.h"

#include <cstdio>

#include "plan/request.h"

namespace mmafuzz {

int judge_answers(const AnswerCounts& counts, int code) {
  if (const std::string silent = silent_unit(counts); code == exit_ok && !silent.empty()) throw BadInput(silent);
  for (const std::string& sentence : missing_answers(counts)) std::fprintf(stderr, "mmafuzz: %s\n", sentence.c_str());
  if (code != exit_ok) return code;
  return any_broke(counts) ? exit_divergence : exit_ok;
}

}  // namespace mmafuzz
