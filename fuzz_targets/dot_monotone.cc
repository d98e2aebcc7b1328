// dot_monotone: raise one addend, keep the rest; the result must not fall. A contract failure means that a unit which claims to
// be monotone (exact, IEEE orders) is not; on matrix units without normalization a failure is the finding of Fasi et al.:
// a greater input that gives a smaller result.
#include "fuzz_targets/property_target.h"

std::unique_ptr<mmafuzz::Target> mmafuzz::make_target(const TargetOptions& options) {
  return std::make_unique<PropertyTarget>(options, default_ops(OpKind::dot), [](std::string_view name) { return name.starts_with("monotone") || name == "error_bound"; });
}
