// A target that puts every unit of an op on the same cases.
#pragma once

#include "fuzz_targets/number_target.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {

class ComparingTarget final : public NumberTarget {
 public:
  ComparingTarget(const TargetOptions& options, const std::vector<Op>& ops) : NumberTarget(options, ops, {find_property("error_bound")}) {}

 private:
  static constexpr uint64_t bound_share = 16;

  void check(Field& field, size_t focus) override {
    field.comparison.examine_focus(field.batch, field.outcomes, field.focuses[focus].unit, round(), field.seen, [&](Divergence d, uint64_t count) {
      field.comparison.confirm(d);
      report(std::move(d), count);
    });
    // Now and then the input's own case against what is proven of the unit that the input looks through: that takes MPFR.
    const size_t unit = field.focuses[focus].unit;
    if (round() % bound_share != 0 || field.comparison.properties_of(unit).empty()) return;
    const Batch one = every_nth(field.batch, field.batch.size());
    Outcomes base;
    field.comparison.units()[unit]->run(one, base);
    for (const BoundProperty& property : field.comparison.properties_of(unit))
      property.check(one, base, [&](Divergence d, uint64_t count) { report(std::move(d), count); });
  }
};

}  // namespace mmafuzz
