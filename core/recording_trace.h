// A trace that keeps every step of one case's arithmetic.
#pragma once

#include <vector>

#include "arithmetic/trace.h"

namespace mmafuzz {

struct RecordingTrace {
  static constexpr bool enabled = true;
  std::vector<Step> steps;
  void operator()(const Step& step) { steps.push_back(step); }
};

}  // namespace mmafuzz
