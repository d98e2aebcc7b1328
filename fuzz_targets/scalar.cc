// scalar: IEEE operations on every unit that has them. A contract failure means that our operation differs from MPFR, in value or
// flags; against the CPU's silicon a difference is recorded.
#include "fuzz_targets/comparing_target.h"

namespace mmafuzz {
namespace {

std::vector<Op> operations() {
  std::vector<Op> ops;
  for (const char* name : {"fp32", "fp64", "fp16", "bf16"})
    for (const ScalarOperation operation : {ScalarOperation::add, ScalarOperation::sub, ScalarOperation::mul, ScalarOperation::fma,
                                            ScalarOperation::div, ScalarOperation::sqrt, ScalarOperation::rcp, ScalarOperation::rem,
                                            ScalarOperation::equal, ScalarOperation::less, ScalarOperation::less_equal, ScalarOperation::unordered})
      for (const Rounding rounding : {Rounding::nearest_even, Rounding::toward_zero, Rounding::up, Rounding::down}) {
        Op op;
        op.kind = OpKind::scalar;
        op.scalar = operation;
        op.a = op.d = format(name);
        op.rounding = rounding;
        op.nan = NanPolicy::any;
        ops.push_back(op);
      }
  return ops;
}

}  // namespace

std::unique_ptr<Target> make_target(const TargetOptions& options) { return std::make_unique<ComparingTarget>(options, operations()); }

}  // namespace mmafuzz
