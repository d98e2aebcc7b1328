#include "plan/targets.h"

#include <algorithm>

#include "core/text.h"
#include "core/unit_name.h"
#include "oracles/properties/properties.h"
#include "plan/default_fields.h"
#include "plan/registry.h"
#include "plan/request.h"

namespace mmafuzz {
namespace {

std::vector<Op> none() { return {}; }
std::vector<Op> dots() { return default_ops(OpKind::dot); }
std::vector<Op> gemms() { return default_ops(OpKind::gemm); }
std::vector<Op> blocks() {
  std::vector<Op> ops = default_ops(OpKind::quantize);
  for (const Op& op : default_ops(OpKind::dequantize)) ops.push_back(op);
  return ops;
}

Op conversion(const char* from, const char* to, Rounding rounding, bool saturate = false) {
  Op op;
  op.kind = OpKind::convert;
  op.a = format(from);
  op.d = format(to);
  op.rounding = rounding;
  op.saturate = saturate;
  op.nan = NanPolicy::any;
  return op;
}

std::vector<Op> conversions() {
  std::vector<Op> ops;
  for (const char* to : {"fp16", "bf16", "tf32", "e5m2", "e4m3", "e3m2", "e2m3", "e2m1", "e5m2fnuz", "e4m3fnuz", "e8m0",
                         "ue4m3", "cfloat8_1_4_3:7", "cfloat8_1_5_2:15", "shp:15", "uhp"})
    for (const Rounding rounding : {Rounding::nearest_even, Rounding::toward_zero, Rounding::up})
      ops.push_back(conversion("fp32", to, rounding, /*saturate=*/rounding == Rounding::toward_zero));
  for (const char* to : {"e4m3", "e5m2", "bf16", "cfloat8_1_4_3:7", "cfloat8_1_5_2:15?denormal=gradual", "shp:15",
                         "uhp?negative=absolute"})
    ops.push_back(conversion("fp32", to, Rounding::stochastic));
  for (const char* from : {"fp16", "bf16", "e4m3", "cfloat8_1_4_3:7", "shp:15"})
    ops.push_back(conversion(from, "fp32", Rounding::nearest_even));
  ops.push_back(conversion("fp64", "fp32", Rounding::nearest_even));
  ops.push_back(conversion("fp64", "fp16", Rounding::nearest_even));
  ops.push_back(conversion("fp16", "e4m3", Rounding::nearest_even, /*saturate=*/true));
  ops.push_back(conversion("bf16", "e5m2", Rounding::nearest_even, /*saturate=*/true));
  ops.push_back(conversion("fp32", "fp16", Rounding::down));
  ops.push_back(conversion("fp32", "fp16", Rounding::nearest_away));
  for (const char* to : {"e4m3", "cfloat8_1_5_2:15", "shp:15"})
    ops.push_back(conversion("bf16", to, Rounding::stochastic));
  for (const char* integer : {"s32", "u32", "s64", "u64"}) {
    for (const char* real : {"fp16", "fp32", "fp64"}) {
      ops.push_back(conversion(real, integer, Rounding::nearest_even));
      ops.push_back(conversion(real, integer, Rounding::toward_zero, /*saturate=*/true));
      ops.push_back(conversion(integer, real, Rounding::nearest_even));
    }
    ops.push_back(conversion(integer, "fp32", Rounding::up));
  }
  return ops;
}

std::vector<Op> scalars() {
  std::vector<Op> ops;
  for (const char* name : {"fp32", "fp64", "fp16", "bf16"})
    for (int operation = 0; operation < scalar_operation_count; ++operation)
      for (const Rounding rounding : {Rounding::nearest_even, Rounding::toward_zero, Rounding::up, Rounding::down}) {
        Op op;
        op.kind = OpKind::scalar;
        op.scalar = static_cast<ScalarOperation>(operation);
        op.a = op.d = format(name);
        op.rounding = rounding;
        op.nan = NanPolicy::any;
        ops.push_back(op);
      }
  return ops;
}

void leave_out_other_formats(std::vector<Op>& ops, const FuzzTarget& target) {
  std::erase_if(ops, [&](const Op& op) { return *target.format && op.a.name() != target.format; });
}

}  // namespace

const std::vector<FuzzTarget>& fuzz_targets() {
  static const std::vector<FuzzTarget> all = {
#define MMAFUZZ_TARGET(name, looks_at, ops, format, properties, without, campaigns, contract) \
  {#name, LooksAt::looks_at, ops, format, properties, without, InCampaigns::campaigns, contract},
#include "plan/targets.def.h"
#undef MMAFUZZ_TARGET
  };
  return all;
}

std::vector<std::string> target_names(bool (*which)(const FuzzTarget&)) {
  std::vector<std::string> names;
  for (const FuzzTarget& target : fuzz_targets())
    if (which(target)) names.push_back(target.name);
  return names;
}

std::vector<std::string> units_of(const FuzzTarget& target, const std::vector<std::string>& patterns, const Op& op) {
  std::vector<std::string> units = units_of(patterns, op);
  if (patterns.empty() && !target.compares_units())
    std::erase_if(units, [](const std::string& name) {
      const Role role = registry().role_of(name);
      return role == Role::plugin || role == Role::device;
    });
  return units;
}

const FuzzTarget& target_named(const std::string& name) {
  if (const FuzzTarget* target = entry_named(fuzz_targets(), name)) return *target;
  throw BadInput("unknown target '" + name + "'; known: " + names_in_table(fuzz_targets(), " "));
}

std::vector<Op> ops_of(const FuzzTarget& target) {
  std::vector<Op> ops = target.ops();
  leave_out_other_formats(ops, target);
  return ops;
}

bool takes(const FuzzTarget& target, const Op& op) {
  const std::vector<Op> ops = ops_of(target);
  return std::any_of(ops.begin(), ops.end(), [&](const Op& own) { return own.kind == op.kind; }) &&
         (!*target.format || op.a.name() == target.format);
}

std::vector<Op> campaign_ops_of(const FuzzTarget& target) {
  std::vector<Op> ops = ops_of(target);
  if (ops.empty() || ops[0].is_of_blocks()) return ops;  // those of blocks are default_ops() of both kinds
  ops = default_ops(ops[0].kind);
  leave_out_other_formats(ops, target);
  return ops;
}

std::vector<const Property*> properties_of(const FuzzTarget& target) {
  const std::vector<std::string> with = words_of(target.properties, ','),
                                 without = words_of(target.not_properties, ',');
  std::vector<const Property*> properties;
  for (const Property* property : all_properties())
    if (matches_any_glob(with, property->name()) && !matches_any_glob(without, property->name()))
      properties.push_back(property);
  return properties;
}

const FuzzTarget& target_of(const std::string& property, const Op& op) {
  const bool of_units = property == "equal" || property == "equals_model";
  const FuzzTarget* first = nullptr;  // for matrix products, where no target compares units
  for (const FuzzTarget& target : fuzz_targets()) {
    if (!takes(target, op)) continue;
    if (of_units && target.compares_units()) return target;
    for (const Property* known : properties_of(target))
      if (known->name() == property) return target;
    if (!first) first = &target;
  }
  if (of_units && first) return *first;
  throw BadInput("no target looks at " + property + " of '" + to_text(op) + "'");
}

}  // namespace mmafuzz
