#include "oracles/models/model_unit.h"

#include "arithmetic/evaluate_dot.h"
#include "core/function_unit.h"

namespace mmafuzz {

void ModelUnit::run(const Batch& batch, Outcomes& outcomes) const {
  prepare(batch, outcomes);
  if (aligned_.run(batch, outcomes.results) || host_.run(batch, outcomes.results)) return;
  run_dots(batch, outcomes, [&](const DotOperands& in) { return evaluate_dot(model_, in); });
}

}  // namespace mmafuzz
