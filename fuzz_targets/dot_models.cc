// dot_models: every unit of one op on the same cases. A contract failure means that a unit differs from what its row claims: a
// model from its slow twin, a device or plugin from its model, the exact fast path from MPFR. Other differences are
// knowledge: recorded once a bucket, they do not stop the search.
#include "fuzz_targets/number_target.h"
#include "oracles/default_fields.h"

namespace mmafuzz {
namespace {

class DotModels final : public NumberTarget {
 public:
  explicit DotModels(const TargetOptions& options) : NumberTarget(options, default_ops(OpKind::dot), {}) {}

 private:
  void check(Field& field, size_t focus) override {
    field.comparison.examine_focus(field.batch, field.outcomes, field.focuses[focus].unit, round(), field.seen, [&](Divergence d, uint64_t) {
      field.comparison.confirm(d);
      report(std::move(d));
    });
  }
};

}  // namespace

std::unique_ptr<Target> make_target(const TargetOptions& options) { return std::make_unique<DotModels>(options); }

}  // namespace mmafuzz
