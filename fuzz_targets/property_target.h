// A target that puts one unit's results in relation to each other: the properties whose names a predicate picks.
#pragma once

#include <algorithm>

#include "fuzz_targets/number_target.h"
#include "oracles/default_fields.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {

class PropertyTarget final : public NumberTarget {
 public:
  template <class Pick>
  PropertyTarget(const TargetOptions& options, const std::vector<Op>& ops, Pick pick) : NumberTarget(options, ops, picked(pick)) {}

 private:
  template <class Pick>
  static Comparison::Properties picked(Pick pick) {
    Comparison::Properties properties;
    for (const auto& property : all_properties())
      if (pick(std::string_view(property->name()))) properties.push_back(property.get());
    return properties;
  }

  bool compares_units() const override { return false; }

  void check(Field& field, size_t focus) override {
    const size_t unit = field.focuses[focus].unit;
    Outcomes base;
    field.comparison.units()[unit]->run(field.batch, base);
    for (const BoundProperty& property : field.comparison.properties_of(unit)) {
      bool broken = false;
      const size_t compared = property.check(field.batch, base, [&](Divergence d, uint64_t count) {
        broken = true;
        report(std::move(d), count);
      });
      const auto number = std::find(properties().begin(), properties().end(), &property.property()) - properties().begin();
      report_bin(bins::Property::at(bins::capped(static_cast<int>(number), 15), broken ? 2 : compared ? 1 : 0), slot_of(focus));
    }
  }
};

}  // namespace mmafuzz
