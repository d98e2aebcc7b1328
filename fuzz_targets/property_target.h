// A target that puts one unit's results in relation to each other: the properties that its row picks.
#pragma once

#include "fuzz_targets/number_target.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {

class PropertyTarget final : public NumberTarget {
 public:
  PropertyTarget(const TargetOptions& options, const FuzzTarget& row) : NumberTarget(options, row) {}

 private:
  bool compares_units() const override { return false; }

  void check(Field& field, size_t focus) override {
    const size_t unit = field.focuses[focus].unit;
    Outcomes base;
    field.comparison.units()[unit]->run(field.batch, base);
    field.seen.answers[field.comparison.units()[unit]->name()].add(base);
    field.comparison.examine_properties(
        field.batch, base, unit, field.turn, [&](Divergence d, uint64_t count) { report(std::move(d), count); },
        [&](const Property& property, size_t compared, bool broken) {
          report_bin(bins::Property::at(number_of(property), broken ? 2 : compared ? 1 : 0), slot_of(focus));
        });
  }
};

}  // namespace mmafuzz
