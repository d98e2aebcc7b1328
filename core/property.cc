#include "core/property.h"

#include <algorithm>

#include "arithmetic/decode.h"

namespace mmafuzz {

const char* name_of(Severity severity) {
  return severity == Severity::contract ? "contract" : severity == Severity::accuracy ? "accuracy" : "semantic";
}

std::string op_label(const Op& op) {
  const auto type = [](const Format& f) {
    const std::string& name = f.name();
    return name.starts_with("fp") ? "f" + name.substr(2) : name;
  };
  switch (op.kind) {
    case OpKind::convert: return "convert." + type(op.d) + "." + type(op.a);
    case OpKind::scalar: return std::string("scalar.") + name_of(op.scalar) + "." + type(op.a);
    default: break;
  }
  std::string label = op.kind == OpKind::gemm ? "gemm" : "dot";
  for (const Format* f : {&op.d, &op.a, &op.b, &op.c}) label += "." + type(*f);
  return op.has_scales() ? label + "." + type(op.scale_a) : label;
}

std::string BucketKey::to_string() const {
  std::string text = "mmafuzz: divergence " + property + " " + op;
  for (const std::string& unit : units) text += " " + unit;
  return text + " " + value_class;
}

bool same_result(const Op& op, uint64_t x, uint64_t y) {
  if (x == y) return true;
  if (op.nan != NanPolicy::any) return false;
  const FormatFields& f = op.d.fields();
  return decode(f, x).cls == NumberClass::nan && decode(f, y).cls == NumberClass::nan;
}

std::string value_class(const Batch& batch, size_t index, uint64_t x, uint64_t y) {
  const FormatFields& d = batch.op().d.fields();
  const Number r[2] = {decode(d, x), decode(d, y)};
  bool operands_special = false;
  const std::vector<FieldShape> fields = batch.op().inputs();
  for (size_t f = 0; f < fields.size(); ++f) {
    for (int i = 0; i < fields[f].count; ++i) {
      const NumberClass cls = decode(fields[f].format.fields(), batch.inputs()[f].get(index, i)).cls;
      operands_special |= cls == NumberClass::infinity || cls == NumberClass::nan;
    }
  }
  const auto any = [&](auto test) { return test(r[0]) || test(r[1]); };
  if (operands_special) return "special";
  if (any([](const Number& n) { return n.cls == NumberClass::infinity || n.cls == NumberClass::nan; })) return "overflow";
  if (r[0].cls == NumberClass::zero && r[1].cls == NumberClass::zero) return "zero_sign";
  if (any([](const Number& n) { return n.subnormal; })) return "subnormal";
  return "normal";
}

size_t Property::check(const Unit& unit, const Batch& batch, const Outcomes& base, const ReportDivergence& report) const {
  const bool claimed = std::any_of(unit.claims().begin(), unit.claims().end(), [&](const Claim& c) { return c.property == name(); });
  Batch transformed = batch;
  std::vector<uint8_t> used(batch.size());
  for (size_t i = 0; i < batch.size(); ++i) used[i] = transform(unit, transformed, i);
  Outcomes after;
  unit.run(transformed, after);
  size_t compared = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (!used[i] || !base.has_answer(i) || !after.has_answer(i)) continue;
    ++compared;
    const uint64_t x = base.results.get(i), y = after.results.get(i);
    if (holds(batch.op(), x, y)) continue;
    Divergence found;
    found.key = {name(), op_label(batch.op()), {unit.name()}, value_class(batch, i, x, y)};
    found.severity = claimed ? Severity::contract : Severity::semantic;
    found.cases = Batch(batch.op());
    found.cases.append(batch, i);
    found.cases.append(transformed, i);
    found.results = {x, y};
    report(std::move(found));
  }
  return compared;
}

size_t compare_units(const char* property, Severity severity, const Batch& batch, const std::string& first_name,
                     const Outcomes& first, const std::string& second_name, const Outcomes& second,
                     const ReportDivergence& report) {
  const bool with_flags = !first.flags.empty() && !second.flags.empty();
  size_t compared = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (!first.has_answer(i) || !second.has_answer(i)) continue;
    ++compared;
    const uint64_t x = first.results.get(i), y = second.results.get(i);
    const bool same_flags = !with_flags || first.flags[i] == second.flags[i];
    if (same_flags && same_result(batch.op(), x, y)) continue;
    Divergence found;
    found.key = {property, op_label(batch.op()), {first_name, second_name}, value_class(batch, i, x, y)};
    if (x == y) found.key.value_class = "flags";
    found.severity = severity;
    found.cases = Batch(batch.op());
    found.cases.append(batch, i);
    found.results = {x, y};
    report(std::move(found));
  }
  return compared;
}

}  // namespace mmafuzz
