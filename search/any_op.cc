#include "search/any_op.h"

#include "search/structured_generator.h"

namespace mmafuzz {

Findings AnyOp::examine(const Batch& cases) const {
  const std::vector<std::string> units = accepting_(cases.op());
  if (units.empty()) return {};
  return Comparison(cases.op(), units, registry_, properties_).examine_claims(cases);
}

Findings AnyOp::examine(const Op& op, uint64_t seed, size_t count) const {
  Batch cases;
  StructuredGenerator(op, seed).fill(0, count, cases);
  return examine(cases);
}

}  // namespace mmafuzz
