// Any op that can be written, with every unit that accepts it, against what those units promise: the model or referee
// that they claim to equal, the properties that they claim. Differences that nobody forbids are not looked at here.
#pragma once

#include "search/comparison.h"
#include "search/op_generator.h"

namespace mmafuzz {

class AnyOp {
 public:
  /// `accepting` names the units that evaluate an op.
  using Accepting = std::function<std::vector<std::string>(const Op&)>;

  AnyOp(const Registry& registry, Accepting accepting, Comparison::Properties properties)
      : registry_(registry), accepting_(std::move(accepting)), properties_(std::move(properties)) {}

  /// What the units break on these cases of one op; nothing is compared where no unit takes it.
  Findings examine(const Batch& cases) const;

  /// The same on `count` structured cases of an op.
  Findings examine(const Op& op, uint64_t seed, size_t count) const;

 private:
  const Registry& registry_;
  Accepting accepting_;
  Comparison::Properties properties_;
};

}  // namespace mmafuzz
