// dot_metamorphic: a case and a changed twin whose results must be related: permuted products, flipped signs, powers of two,
// zero padding, swapped factors, a split k, other factors of the same product. A contract failure means that a unit adds, splits or
// rounds otherwise than its row claims; what a row does not claim is measured as semantic.
#include "fuzz_targets/property_target.h"

std::unique_ptr<mmafuzz::Target> mmafuzz::make_target(const TargetOptions& options) {
  return std::make_unique<PropertyTarget>(options, default_ops(OpKind::dot), [](std::string_view name) { return !name.starts_with("monotone"); });
}
