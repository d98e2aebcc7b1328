#include "core/row_of_unit.h"

#include "core/unit_name.h"

namespace mmafuzz {

std::string model_name_of(const Unit& unit) {
  if (unit.role() == Role::model || unit.role() == Role::twin) return UnitName(unit.name()).under("model").text();
  for (const Claim& claim : unit.claims())
    if (claim.property == "equals_model" && UnitName(claim.detail).backend == "model") return claim.detail;
  return "";
}

std::string row_name_of(const Unit& unit, const Op& op, const Registry& registry) {
  const bool computes_dots = op.kind == OpKind::dot || op.kind == OpKind::gemm;
  if (!computes_dots || unit.role() != Role::silicon) return is_reference(unit) ? "" : model_name_of(unit);
  Op any_nan = op;
  any_nan.nan = NanPolicy::any;
  const Result<std::unique_ptr<Unit>> bound = registry.bind(unit.name(), any_nan);
  return bound ? model_name_of(**bound) : "";
}

bool is_reference(const Unit& unit) {
  const Role role = unit.role();
  return role == Role::exact || role == Role::ieee || role == Role::referee || role == Role::silicon ||
         role == Role::hypothesis;
}

bool is_stranger(const Unit& unit) {
  return is_of_this_machine(unit.role()) && !is_reference(unit) && model_name_of(unit).empty();
}

}  // namespace mmafuzz
