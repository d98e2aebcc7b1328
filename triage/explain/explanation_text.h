// Draws an explanation for a terminal or a plain file.
#pragma once

#include "triage/explain/explanation.h"

namespace mmafuzz {

struct TextStyle {
  bool colour = false;
  int width = 80;  ///< in characters; from 160 on, two units stand side by side if both fit
};

/// The cases in order, then the verdicts on them all.
std::string explanation_text(const Explanation& explanation, const TextStyle& style);

/// The verdicts alone: "verdict: they agree\n".
std::string verdict_text(const Explanation& explanation);

}  // namespace mmafuzz
