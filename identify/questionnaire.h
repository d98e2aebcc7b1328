// Identification without calling a unit: one fixed file of cases goes out, its answers come back.
#pragma once

#include <string>
#include <vector>

#include "identify/identify.h"

namespace mmafuzz {

inline constexpr size_t most_questions = 4000;  ///< dots of one questionnaire

/// The cases for an op: the first questions, what tells every row of the catalogue from its rivals, and guided cases
/// for verification. A function of the op alone.
Batch questionnaire(const Op& op);

/// The ops of a case file's answered dots, and the answers to one of them. Throws BadInput.
std::vector<Op> answered_ops(const std::string& path);
Evidence answers_in(const std::string& path, const Op& op);

}  // namespace mmafuzz
