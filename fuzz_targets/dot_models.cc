// dot_models: every unit of one op on the same cases. A contract failure means that a unit differs from what its row claims: a
// model from its slow twin, a device or plugin from its model, the exact fast path from MPFR. Other differences are
// knowledge: recorded once a bucket, they do not stop the search.
#include "fuzz_targets/comparing_target.h"
#include "oracles/default_fields.h"

std::unique_ptr<mmafuzz::Target> mmafuzz::make_target(const TargetOptions& options) {
  return std::make_unique<ComparingTarget>(options, default_ops(OpKind::dot));
}
