// A target that puts every unit of an op on the same cases.
#pragma once

#include "fuzz_targets/number_target.h"

namespace mmafuzz {

class ComparingTarget final : public NumberTarget {
 public:
  ComparingTarget(const TargetOptions& options, const std::vector<Op>& ops) : NumberTarget(options, ops, {}) {}

 private:
  void check(Field& field, size_t focus) override {
    field.comparison.examine_focus(field.batch, field.outcomes, field.focuses[focus].unit, round(), field.seen, [&](Divergence d, uint64_t count) {
      field.comparison.confirm(d);
      report(std::move(d), count);
    });
  }
};

}  // namespace mmafuzz
