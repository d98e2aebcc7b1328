// A target that its row in plan/targets.def.h describes. The build gives each such program a file with its row's name.
#include "fuzz_targets/comparing_target.h"
#include "fuzz_targets/property_target.h"

extern const char mmafuzz_target_name[];

std::unique_ptr<mmafuzz::Target> mmafuzz::make_target(const TargetOptions& options) {
  const FuzzTarget& row = target_named(mmafuzz_target_name);
  if (row.compares_units()) return std::make_unique<ComparingTarget>(options, row);
  return std::make_unique<PropertyTarget>(options, row);
}
