// A target that its row in plan/targets.def.h describes. The build gives each such program a file with its row's name.
#include "fuzz_targets/number_target.h"

extern const char mmafuzz_target_name[];

std::unique_ptr<mmafuzz::Target> mmafuzz::make_target(const TargetOptions& options) {
  return std::make_unique<NumberTarget>(options, target_named(mmafuzz_target_name));
}
