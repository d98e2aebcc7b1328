// Identification without calling a unit: a fixed file of cases is written, and its answers are read.
#pragma once

#include <string>
#include <vector>

#include "identify/identify.h"

namespace mmafuzz {

inline constexpr size_t max_questions = 4000;  ///< maximum number of cases in one questionnaire

/// The cases for an op: first_questions() (probes.h); then, until half of the maximum is reached, those that identify()
/// asks a row of the catalogue with these formats; then those of a guided search through these rows. The same each
/// time, unless an identification runs out of its time.
Batch questionnaire(const Op& op);

/// The dot ops in a case file that have an answer (a result), each once. Throws BadInput where it is no case file.
std::vector<Op> answered_ops(const std::string& path);
/// The cases of one op that have an answer, as evidence of question 0. Throws BadInput where it is no case file.
Evidence answers_in(const std::string& path, const Op& op);

}  // namespace mmafuzz
