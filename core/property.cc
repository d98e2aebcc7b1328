#include "core/property.h"

#include <algorithm>
#include <map>
#include <string_view>

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

namespace {

bool any_operand_special(const Batch& batch, size_t index) {
  const Op& op = batch.op();
  const Format* const formats[] = {&op.a, &op.b, &op.c, &op.scale_a, &op.scale_b};
  for (size_t f = 0; f < batch.inputs().size(); ++f) {
    const Column& column = batch.inputs()[f];
    for (int i = 0; i < column.count(); ++i) {
      const NumberClass cls = decode(formats[f]->fields(), column.get(index, i)).cls;
      if (cls == NumberClass::infinity || cls == NumberClass::nan) return true;
    }
  }
  return false;
}

/// Counts the divergences of one batch by value class and keeps the first of each.
class ByClass {
 public:
  /// Returns true if this is the first of its class: the caller then fills in the divergence.
  bool note(const char* cls) {
    ++found_[cls].second;
    return found_[cls].second == 1;
  }
  Divergence& first(const char* cls) { return found_[cls].first; }
  void report(const ReportDivergence& report) {
    for (auto& [cls, entry] : found_) report(std::move(entry.first), entry.second);
  }

 private:
  std::map<std::string_view, std::pair<Divergence, uint64_t>> found_;
};

}  // namespace

const char* value_class(const Batch& batch, size_t index, uint64_t x, uint64_t y) {
  const FormatFields& d = batch.op().d.fields();
  const Number r[2] = {decode(d, x), decode(d, y)};
  if (any_operand_special(batch, index)) return "special";
  const auto any = [&](auto test) { return test(r[0]) || test(r[1]); };
  if (any([](const Number& n) { return n.cls == NumberClass::infinity || n.cls == NumberClass::nan; })) return "overflow";
  if (r[0].cls == NumberClass::zero && r[1].cls == NumberClass::zero) return "zero_sign";
  if (any([](const Number& n) { return n.subnormal; })) return "subnormal";
  return "normal";
}

Result<BoundProperty> BoundProperty::bind(const Property& property, const Unit& unit, const Op& op, const Registry& registry) {
  if (!property.applies(op, unit)) return declined(std::string(property.name()) + " says nothing about " + op_label(op));
  BoundProperty bound;
  bound.property_ = &property;
  bound.unit_ = &unit;
  const auto is_this = [&](const Claim& claim) { return claim.property == property.name(); };
  if (std::any_of(unit.claims().begin(), unit.claims().end(), is_this)) bound.severity_ = Severity::contract;
  bound.twin_ops_ = property.twin_ops(op, unit);
  for (const Op& other : bound.twin_ops_) {
    bound.rebound_.emplace_back();
    if (other == op) continue;
    Result<std::unique_ptr<Unit>> rebound = registry.bind(unit.name(), other);
    if (!rebound) return declined(std::string(property.name()) + ": " + rebound.refusal().reason);
    bound.rebound_.back() = std::move(*rebound);
  }
  return bound;
}

size_t BoundProperty::check(const Batch& cases, const Outcomes& base, const ReportDivergence& report) const {
  std::vector<Batch> twin;
  for (const Op& op : twin_ops_) {
    twin.push_back(op == cases.op() ? cases : Batch(op));
    twin.back().resize(cases.size());
  }
  std::vector<int> known(cases.size());  // what transform says of the twin; 0: left out
  for (size_t i = 0; i < cases.size(); ++i) known[i] = base.has_answer(i) ? property_->transform(*unit_, cases, i, twin) : 0;
  Outcomes after;
  for (size_t part = 0; part < twin.size(); ++part) {
    if (part > 0) twin[part].inputs()[2] = after.results;
    (rebound_[part] ? *rebound_[part] : *unit_).run(twin[part], after);
    for (size_t i = 0; i < cases.size(); ++i) known[i] = after.has_answer(i) ? known[i] : 0;
  }
  const bool one_case_of_the_op = twin.size() == 1 && !rebound_[0];
  size_t compared = 0;
  ByClass divergences;
  for (size_t i = 0; i < cases.size(); ++i) {
    if (known[i] == 0) continue;
    ++compared;
    const uint64_t x = base.results.get(i), y = after.results.get(i);
    if (property_->holds(cases.op(), known[i], x, y)) continue;
    const char* cls = value_class(cases, i, x, y);
    if (!divergences.note(cls)) continue;
    Divergence& found = divergences.first(cls);
    found.key = {property_->name(), op_label(cases.op()), {unit_->name()}, cls};
    found.severity = severity_;
    found.cases = Batch(cases.op());
    found.cases.append(cases, i);
    if (one_case_of_the_op) found.cases.append(twin[0], i);
    found.results = {x, y};
  }
  divergences.report(report);
  return compared;
}

size_t compare_units(const char* property, Severity severity, const Batch& batch, const std::string& first_name,
                     const Outcomes& first, const std::string& second_name, const Outcomes& second,
                     const ReportDivergence& report) {
  const bool with_flags = !first.flags.empty() && !second.flags.empty();
  size_t compared = 0;
  ByClass divergences;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (!first.has_answer(i) || !second.has_answer(i)) continue;
    ++compared;
    const uint64_t x = first.results.get(i), y = second.results.get(i);
    const bool same_flags = !with_flags || first.flags[i] == second.flags[i];
    if (same_flags && same_result(batch.op(), x, y)) continue;
    const char* cls = x == y ? "flags" : value_class(batch, i, x, y);
    if (!divergences.note(cls)) continue;
    Divergence& found = divergences.first(cls);
    found.key = {property, op_label(batch.op()), {first_name, second_name}, cls};
    found.severity = severity;
    found.cases = Batch(batch.op());
    found.cases.append(batch, i);
    found.results = {x, y};
  }
  divergences.report(report);
  return compared;
}

}  // namespace mmafuzz
