#include "oracles/models/model_unit.h"

#include "arithmetic/evaluate_dot.h"
#include "core/dot_case.h"
#include "core/function_unit.h"

namespace mmafuzz {

void ModelUnit::run(const Batch& batch, Outcomes& outcomes) const {
  prepare(batch, outcomes);
  if (aligned_.run(batch, outcomes.results)) return;
  if (host_.run(batch, outcomes.results)) return;
  DotCase one(batch.op());
  for (size_t i = 0; i < batch.size(); ++i) outcomes.results.set(i, 0, evaluate_dot(model_, one.load(batch, i)));
}

}  // namespace mmafuzz
