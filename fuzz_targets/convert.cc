// convert: every unit that converts between two formats, on the same values. A contract failure means that our conversion
// differs from MPFR, in value or flags. Against the CPU's silicon a difference is recorded.
#include "fuzz_targets/comparing_target.h"

namespace mmafuzz {
namespace {

std::vector<Op> conversions() {
  std::vector<Op> ops;
  const auto add = [&](const char* from, const char* to, Rounding rounding, bool saturate) {
    Op op;
    op.kind = OpKind::convert;
    op.a = format(from);
    op.d = format(to);
    op.rounding = rounding;
    op.saturate = saturate;
    op.nan = NanPolicy::any;
    ops.push_back(op);
  };
  for (const char* to : {"fp16", "bf16", "tf32", "e5m2", "e4m3", "e3m2", "e2m3", "e2m1", "e5m2fnuz", "e4m3fnuz", "e8m0", "ue4m3", "cfloat8_1_4_3:7",
                         "cfloat8_1_5_2:15", "shp:15", "uhp"})
    for (const Rounding rounding : {Rounding::nearest_even, Rounding::toward_zero, Rounding::up}) add("fp32", to, rounding, rounding == Rounding::toward_zero);
  for (const char* to : {"e4m3", "e5m2", "bf16", "cfloat8_1_4_3:7", "cfloat8_1_5_2:15?denormal=gradual", "shp:15", "uhp?negative=absolute"})
    add("fp32", to, Rounding::stochastic, false);
  for (const char* from : {"fp16", "bf16", "e4m3", "cfloat8_1_4_3:7", "shp:15"}) add(from, "fp32", Rounding::nearest_even, false);
  add("fp64", "fp32", Rounding::nearest_even, false);
  add("fp64", "fp16", Rounding::nearest_even, false);
  add("fp16", "e4m3", Rounding::nearest_even, true);
  add("bf16", "e5m2", Rounding::nearest_even, true);
  add("fp32", "fp16", Rounding::down, false);
  add("fp32", "fp16", Rounding::nearest_away, false);
  for (const char* to : {"e4m3", "cfloat8_1_5_2:15", "shp:15"}) add("bf16", to, Rounding::stochastic, false);
  return ops;
}

}  // namespace

std::unique_ptr<Target> make_target(const TargetOptions& options) { return std::make_unique<ComparingTarget>(options, conversions()); }

}  // namespace mmafuzz
