// The first questions to a black box: cases on which close hypotheses differ, made from an op's formats alone.
#pragma once

#include <string>
#include <vector>

#include "core/batch.h"

namespace mmafuzz {

/// Questions, each with some cases that help to answer it.
struct Questions {
  explicit Questions(const Op& op) : cases(op) {}
  std::vector<std::string> texts;  ///< of the questions
  Batch cases;                     ///< of all questions
  std::vector<size_t> of_case;     ///< for each case, the index of its question in `texts`

  /// Appends case `index` of a batch to the question with the index `question`.
  void add(const Batch& batch, size_t index, size_t question);
};

/// The fixed first round for a dot op: some 100 to 200 cases.
Questions first_questions(const Op& op);

}  // namespace mmafuzz
