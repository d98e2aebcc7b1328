// Every step of one case's arithmetic.
#pragma once

#include <span>
#include <vector>

#include "arithmetic/evaluate_dot.h"

namespace mmafuzz {

struct RecordingTrace {
  static constexpr bool enabled = true;
  std::vector<Step> steps;
  void operator()(const Step& step) { steps.push_back(step); }
};

/// The steps of a case, in which a product has the index of its operands.
inline std::vector<Step> recorded_steps(const DotModel& m, const DotOperands& in) {
  RecordingTrace trace;
  evaluate_dot(m, in, trace);
  for (Step& step : trace.steps)
    for (Addend& t : std::span(step.addend, static_cast<size_t>(step.count)))
      if (t.source == Addend::Source::product)
        t.index = static_cast<int16_t>(step.instruction * m.k + added_at(m, t.index % m.k));
  return trace.steps;
}

}  // namespace mmafuzz
