// Checks any op that can be written, on every unit that accepts it, against the claims of these units: the model or
// referee that they claim to equal, and the properties that they claim. Units are not compared with each other.
#pragma once

#include "search/comparison.h"
#include "search/op_generator.h"
#include "search/structured_generator.h"

namespace mmafuzz {

class AnyOp {
 public:
  /// `accepting` names the units that evaluate an op.
  using Accepting = std::function<std::vector<std::string>(const Op&)>;

  AnyOp(const Registry& registry, Accepting accepting, Comparison::Properties properties)
      : registry_(registry), accepting_(std::move(accepting)), properties_(std::move(properties)) {}

  /// The claims that units break on these cases. Empty if no unit accepts the op.
  Findings examine(const Batch& cases) const {
    const std::vector<std::string> units = accepting_(cases.op());
    if (units.empty()) return {};
    return Comparison(cases.op(), units, registry_, properties_).examine_claims(cases);
  }

  /// The same on the first `count` cases of the structured generator.
  Findings examine(const Op& op, uint64_t seed, size_t count) const {
    Batch cases;
    StructuredGenerator(op, seed).fill(0, count, cases);
    return examine(cases);
  }

 private:
  const Registry& registry_;
  Accepting accepting_;
  Comparison::Properties properties_;
};

}  // namespace mmafuzz
