// The first questions to a black box: cases on which close hypotheses differ, made from an op's formats alone.
#pragma once

#include <string>
#include <vector>

#include "core/batch.h"

namespace mmafuzz {

/// Cases, each under the question that it asks.
struct Questions {
  explicit Questions(const Op& op) : cases(op) {}
  std::vector<std::string> texts;
  Batch cases;
  std::vector<size_t> of_case;  ///< index into texts

  void add(const Batch& batch, size_t index, size_t question);
};

/// The fixed first round for a dot op: some 100 to 200 cases.
Questions first_questions(const Op& op);

}  // namespace mmafuzz
