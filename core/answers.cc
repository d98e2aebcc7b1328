#include "core/answers.h"

#include <algorithm>

#include "core/text.h"

namespace mmafuzz {

void AnswerCount::add(const Outcomes& outcomes) {
  const size_t cases = outcomes.results.cases();
  asked += cases;
  if (outcomes.answered.empty() && outcomes.failed.empty()) {
    answered += cases;
    return;
  }
  for (size_t i = 0; i < cases; ++i) {
    failed += outcomes.has_failed(i);
    answered += outcomes.has_answer(i) && !outcomes.has_failed(i);
  }
}

AnswerCount& AnswerCount::operator+=(const AnswerCount& more) {
  asked += more.asked;
  answered += more.answered;
  failed += more.failed;
  return *this;
}

void add(AnswerCounts& all, const AnswerCounts& more) {
  for (const auto& [unit, count] : more) all[unit] += count;
}

std::string to_text(const AnswerCounts& counts) {
  std::string text;
  for (const auto& [unit, count] : counts)
    text += "answers " + std::to_string(count.asked) + " " + std::to_string(count.answered) + " " +
            std::to_string(count.failed) + " " + unit + "\n";
  return text;
}

bool any_broke(const AnswerCounts& counts) {
  return std::any_of(counts.begin(), counts.end(), [](const auto& one) { return one.second.failed > 0; });
}

std::vector<std::string> missing_answers(const AnswerCounts& counts) {
  std::vector<std::string> sentences;
  for (const auto& [unit, count] : counts)
    if (count.answered < count.asked)
      sentences.push_back(unit + " answered " + std::to_string(count.answered) + " of " + counted(count.asked, "case") +
                          (count.failed ? " and broke on " + std::to_string(count.failed) : ""));
  return sentences;
}

std::string silence_message(const AnswerCounts& counts) {
  std::string first;
  size_t more = 0;
  for (const auto& [unit, count] : counts) {
    if (!count.is_silent()) continue;
    if (first.empty()) first = unit + " answered none of " + counted(count.asked, "case");
    else ++more;
  }
  if (first.empty()) return "";
  return first + (more ? ", and so " + counted(more, "time") + " more" : "") +
         ": nothing was compared with it, see what it takes or leave it out";
}

}  // namespace mmafuzz
