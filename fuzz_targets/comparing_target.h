// A target that puts every unit of an op on the same cases, and the input's focus unit to every property of such ops.
#pragma once

#include "fuzz_targets/number_target.h"

namespace mmafuzz {

class ComparingTarget final : public NumberTarget {
 public:
  ComparingTarget(const TargetOptions& options, const FuzzTarget& row) : NumberTarget(options, row) {}

 private:
  static constexpr uint64_t bound_share = 16;

  void check(Field& field, size_t focus) override {
    field.comparison.examine_focus(field.batch, field.outcomes, field.focuses[focus].unit, field.rounds++, field.seen,
                                   [&](Divergence d, uint64_t count) {
                                     field.comparison.confirm(d);
                                     report(std::move(d), count);
                                   });
    // Conversions and scalar operations: every case. Dots: the own case of one input in 16, since MPFR is slow.
    const size_t unit = field.focuses[focus].unit;
    if (field.comparison.properties_of(unit).empty()) return;
    const bool dots = field.comparison.op().kind == OpKind::dot;
    if (dots && round() % bound_share != 0) return;
    const Batch cases = dots ? every_nth(field.batch, field.batch.size()) : field.batch;
    Outcomes base;
    field.comparison.units()[unit]->run(cases, base);
    for (const BoundProperty& property : field.comparison.properties_of(unit))
      property.check(cases, base, [&](Divergence d, uint64_t count) { report(std::move(d), count); });
  }
};

}  // namespace mmafuzz
