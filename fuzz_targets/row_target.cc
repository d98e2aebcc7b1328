// A target that its row in plan/targets.def.h describes; MMAFUZZ_TARGET_NAME says which row.
#include "fuzz_targets/comparing_target.h"
#include "fuzz_targets/property_target.h"

std::unique_ptr<mmafuzz::Target> mmafuzz::make_target(const TargetOptions& options) {
  const FuzzTarget& row = target_named(MMAFUZZ_TARGET_NAME);
  if (row.compares_units()) return std::make_unique<ComparingTarget>(options, row);
  return std::make_unique<PropertyTarget>(options, row);
}
