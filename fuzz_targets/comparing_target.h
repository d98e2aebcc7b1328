// A target that puts every unit of an op on the same cases, and the input's focus unit to every property of such ops.
#pragma once

#include "fuzz_targets/number_target.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {

class ComparingTarget final : public NumberTarget {
 public:
  ComparingTarget(const TargetOptions& options, const std::vector<Op>& ops) : NumberTarget(options, ops, all()) {}

 private:
  static Comparison::Properties all() {
    Comparison::Properties properties;
    for (const auto& property : all_properties()) properties.push_back(property.get());
    return properties;
  }

  void check(Field& field, size_t focus) override {
    field.comparison.examine_focus(field.batch, field.outcomes, field.focuses[focus].unit, round(), field.seen, [&](Divergence d, uint64_t count) {
      field.comparison.confirm(d);
      report(std::move(d), count);
    });
    const size_t unit = field.focuses[focus].unit;
    for (const BoundProperty& property : field.comparison.properties_of(unit))
      property.check(field.batch, field.outcomes[unit], [&](Divergence d, uint64_t count) { report(std::move(d), count); });
  }
};

}  // namespace mmafuzz
