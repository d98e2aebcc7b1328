#include "core/property.h"

#include <algorithm>
#include <cstring>

#include "arithmetic/corner_encodings.h"
#include "arithmetic/integer_rounding.h"
#include "arithmetic/specials.h"

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
    case OpKind::quantize:
      return "quantize." + type(op.d) + "." + type(op.scale_a) + "." + type(op.a) + "." + name_of(op.scale_rule);
    case OpKind::dequantize: return "dequantize." + type(op.d) + "." + type(op.scale_a) + "." + type(op.a);
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

bool same_result(const Op& op, uint64_t x, uint64_t y, int element) {
  if (x == y) return true;
  if (op.nan != NanPolicy::any) return false;
  const FormatFields& f = op.result_format(element).fields();
  return decode(f, x).cls == NumberClass::nan && decode(f, y).cls == NumberClass::nan;
}

bool same_result(const Batch& batch, size_t index, uint64_t x, uint64_t y, int element) {
  const Op& op = batch.op();
  if (same_result(op, x, y, element)) return true;
  if (op.nan != NanPolicy::any || op.kind != OpKind::convert || !op.rounds_to_integer()) return false;
  const uint64_t source = batch.inputs()[0].get(index);
  return converts_to_no_integer(op.d.fields(),
                                flushed_operand(op.a.fields(), decode(op.a.fields(), source), op.flush_to_zero),
                                op.rounding_rule_of(source));
}

bool same_flags(const Batch& batch, size_t index, uint8_t x, uint8_t y) {
  const Op& op = batch.op();
  uint8_t looked_at = 0xff;
  if (op.flags == FlagPolicy::ieee) {
    looked_at &= static_cast<uint8_t>(~flag::denormal_operand);
    if (op.kind == OpKind::scalar && op.scalar == ScalarOperation::fma) {
      Number operand[3];
      for (int i = 0; i < 3; ++i) operand[i] = decode(op.a.fields(), batch.inputs()[0].get(index, i));
      const bool adds_quiet_nan = operand[2].cls == NumberClass::nan && !operand[2].signaling;
      if (is_invalid_product(operand[0], operand[1]) && adds_quiet_nan)
        looked_at &= static_cast<uint8_t>(~flag::invalid);
    }
  }
  return ((x ^ y) & looked_at) == 0;
}

int first_difference(const Batch& batch, const Column& x, const Column& y, size_t index) {
  for (int e = 0; e < x.count(); ++e) {
    const uint64_t first = x.get(index, e), second = y.get(index, e);
    if (first != second && !same_result(batch, index, first, second, e)) return e;
    const Op& op = batch.op();
    if (e == 0 && op.kind == OpKind::quantize && op.nan == NanPolicy::any &&
        decode(op.scale_a.fields(), first).cls == NumberClass::nan)
      return -1;
  }
  return -1;
}

const char* name_of(ValueClass cls) {
  constexpr const char* names[value_class_count] = {"flags", "normal", "overflow", "special", "subnormal", "zero_sign"};
  return names[static_cast<int>(cls)];
}

namespace {

/// Whether one of `count` encodings has the bits `pattern` under the mask.
template <class T>
bool any_with(const uint8_t* data, int count, T mask, T pattern) {
  bool any = false;
  for (int i = 0; i < count; ++i) any |= (loaded<T>(data + sizeof(T) * static_cast<size_t>(i)) & mask) == pattern;
  return any;
}

bool any_special(const FormatFields& f, const Column& column, size_t index) {
  if (f.specials == Specials::none) return false;
  if (f.specials == Specials::top_infinity) {
    for (int i = 0; i < column.count(); ++i)
      if (is_special(f, column.get(index, i))) return true;
    return false;
  }
  // In every other format infinities and NaNs have one bit pattern under a mask, whatever the policy.
  const uint64_t exponent = static_cast<uint64_t>(f.top_exponent_field()) << f.fraction_bits;
  const uint64_t mask = f.in_container(f.specials == Specials::ieee   ? exponent
                                       : f.specials == Specials::fnuz ? f.magnitude_mask() | f.sign_bit()
                                                                      : f.magnitude_mask());
  const uint64_t pattern = f.in_container(f.specials == Specials::ieee   ? exponent
                                          : f.specials == Specials::fnuz ? f.sign_bit()
                                                                         : f.magnitude_mask());
  const uint8_t* data = column.data() + index * column.stride();
  return with_integer(column.element_bytes(), [&]<class T>(T) {
    return any_with<T>(data, column.count(), static_cast<T>(mask), static_cast<T>(pattern));
  });
}

}  // namespace

bool SpecialOperands::operator[](size_t index) {
  State& state = state_[index];
  if (state == State::unknown) {
    state = State::none;
    for (size_t f = 0; f < batch_->inputs().size() && state == State::none; ++f)
      if (any_special(batch_->op().input_format(f).fields(), batch_->inputs()[f], index)) state = State::some;
  }
  return state == State::some;
}

ValueClass value_class(const Op& op, bool special_operands, uint64_t x, uint64_t y, int element) {
  if (special_operands) return ValueClass::special;
  const FormatFields& d = op.result_format(element).fields();
  if (plain_exponent_field(d, x) && plain_exponent_field(d, y)) return ValueClass::normal;  // the frequent case
  const Number r[2] = {decode(d, x), decode(d, y)};
  if (!is_number(r[0].cls) || !is_number(r[1].cls)) return ValueClass::overflow;
  if (r[0].cls == NumberClass::zero && r[1].cls == NumberClass::zero && x != y) return ValueClass::zero_sign;
  if (r[0].subnormal || r[1].subnormal) return ValueClass::subnormal;
  return ValueClass::normal;
}

namespace {

/// Calls visit(i), in order, for each case whose results differ in a bit; where a result has other than 1, 2, 4 or 8
/// bytes, for each case. The comparison compiles to vector code, as most results are equal.
template <class Visit>
void for_each_other_encoding(const Column& x, const Column& y, size_t cases, Visit visit) {
  constexpr size_t at_once = 64;
  const auto scan = [&]<class T>(T) {
    for (size_t from = 0; from < cases; from += at_once) {
      const size_t count = std::min(at_once, cases - from);
      T a[at_once] = {}, b[at_once] = {};
      uint8_t other[at_once];
      std::memcpy(a, x.data() + from * sizeof(T), count * sizeof(T));
      std::memcpy(b, y.data() + from * sizeof(T), count * sizeof(T));
      for (size_t i = 0; i < at_once; ++i) other[i] = a[i] != b[i];
      for (size_t i = 0; i < count; i += sizeof(uint64_t)) {
        uint64_t any;
        std::memcpy(&any, other + i, sizeof any);
        for (; any; any &= any - 1) visit(from + i + static_cast<size_t>(__builtin_ctzll(any)) / 8);
      }
    }
  };
  switch (x.stride()) {
    case 1: return scan(uint8_t{});
    case 2: return scan(uint16_t{});
    case 4: return scan(uint32_t{});
    case 8: return scan(uint64_t{});
    default:
      for (size_t i = 0; i < cases; ++i) visit(i);
  }
}

}  // namespace

bool same_outcome(const Outcomes& x, const Outcomes& y, size_t index) {
  const size_t stride = x.results.stride();
  return stride == y.results.stride() && x.has_answer(index) == y.has_answer(index) &&
         std::memcmp(x.results.data() + index * stride, y.results.data() + index * stride, stride) == 0 &&
         (x.flags.empty() || y.flags.empty() || x.flags[index] == y.flags[index]);
}

DifferenceTally tally_differences(const Batch& batch, SpecialOperands& special, const Outcomes& first,
                                  const Outcomes& second, const std::function<bool(size_t index)>& is_known) {
  const bool with_flags = !first.flags.empty() && !second.flags.empty();
  const bool all_answered = first.answered.empty() && second.answered.empty();
  DifferenceTally tally;
  const auto look = [&](size_t i) {
    const int differing = first_difference(batch, first.results, second.results, i), element = std::max(differing, 0);
    if (differing < 0 && (!with_flags || same_flags(batch, i, first.flags[i], second.flags[i]))) return;
    if (is_known && is_known(i)) return;
    const uint64_t x = first.results.get(i, element), y = second.results.get(i, element);
    const ValueClass cls = x == y ? ValueClass::flags : value_class(batch.op(), special[i], x, y, element);
    if (tally.count[static_cast<int>(cls)]++ > 0) return;
    tally.first[static_cast<int>(cls)] = i;
    tally.element[static_cast<int>(cls)] = element;
  };
  if (all_answered && (!with_flags || first.flags == second.flags)) {
    tally.compared = batch.size();
    for_each_other_encoding(first.results, second.results, batch.size(), look);
    return tally;
  }
  for (size_t i = 0; i < batch.size(); ++i) {
    if (!all_answered && (!first.has_answer(i) || !second.has_answer(i))) continue;
    ++tally.compared;
    look(i);
  }
  return tally;
}

namespace {

void keep_cases_before(Divergence& d, const Batch& batch, size_t index) {
  const size_t count = std::min<size_t>(index, 64);  // as Divergence::before says
  d.before = batch.part(index - count, count);
}

}  // namespace

Divergence make_divergence(const char* property, Severity severity, const Batch& batch, size_t index, ValueClass cls,
                           const std::string& first_name, uint64_t first, const std::string& second_name,
                           uint64_t second, int element) {
  Divergence d;
  d.key = {property, op_label(batch.op()), {first_name, second_name}, name_of(cls)};
  d.severity = severity;
  d.cases = batch.part(index);
  d.results = {first, second};
  d.element = element;
  d.before = Batch(batch.op());
  if (severity == Severity::contract) keep_cases_before(d, batch, index);  // other severities are frequent, and no news
  return d;
}

Result<BoundProperty> BoundProperty::bind(const Property& property, const Unit& unit, const Op& op,
                                          const Registry& registry) {
  if (!property.applies(op, unit))
    return declined(std::string(property.name()) + " says nothing about " + op_label(op));
  BoundProperty bound;
  bound.property_ = &property;
  bound.unit_ = &unit;
  bound.severity_ = property.unclaimed();
  if (unit.claim(property.name())) bound.severity_ = Severity::contract;
  bound.changed_ops_ = property.changed_ops(op, unit);
  for (const Op& changed_op : bound.changed_ops_) {
    bound.rebound_.emplace_back();
    if (changed_op == op) continue;
    Result<std::unique_ptr<Unit>> rebound = registry.bind(unit.name(), changed_op);
    if (!rebound) return declined(std::string(property.name()) + ": " + rebound.refusal().reason);
    bound.rebound_.back() = std::move(*rebound);
  }
  return bound;
}

void BoundProperty::judge(const Batch& cases, const Outcomes& base, std::vector<Verdict>& verdicts,
                          std::vector<Batch>* changed_cases) const {
  if (property_->judges_alone()) {
    judge_alone(cases, base, verdicts);
    if (changed_cases) *changed_cases = {cases};
    return;
  }
  SpecialOperands special(cases);
  verdicts.assign(cases.size(), {});
  if (property_->is_about_answering()) {
    for (size_t i = 0; i < cases.size(); ++i) {
      verdicts[i].fails = base.has_failed(i);
      verdicts[i].compared = verdicts[i].fails || base.has_answer(i);
      if (verdicts[i].fails && special[i]) verdicts[i].cls = ValueClass::special;
    }
    return;
  }
  std::vector<Batch> changed;
  for (const Op& op : changed_ops_) {
    changed.push_back(op == cases.op() ? cases : Batch(op));
    changed.back().resize(cases.size());
  }
  const auto subject = [&](size_t i) { return Property::Subject{*unit_, cases, i, base.results.get(i)}; };
  std::vector<std::optional<Property::Changed>> changes(cases.size());  // nullopt: the case is left out
  for (size_t i = 0; i < cases.size(); ++i)
    if (base.has_answer(i)) changes[i] = property_->transform(subject(i), changed);
  Outcomes after;
  for (size_t step = 0; step < changed.size(); ++step) {
    if (step > 0) changed[step].inputs()[2] = after.results;  // c
    if (property_->costs_a_run()) (rebound_[step] ? *rebound_[step] : *unit_).run(changed[step], after);
    else after = base;
    for (size_t i = 0; i < cases.size(); ++i)
      if (!after.has_answer(i)) changes[i].reset();
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    if (!changes[i]) continue;
    Verdict& v = verdicts[i];
    v.compared = true;
    const Property::Subject of_case = subject(i);
    for (int e = 0; e < base.results.count() && !v.fails; ++e) {
      v.first = base.results.get(i, e);
      v.second = after.results.get(i, property_->changed_element(cases.op(), e));
      v.fails = !property_->holds({of_case, e, *changes[i], v.first, v.second});
      v.element = e;
    }
    if (v.fails) v.cls = value_class(cases.op(), special[i], v.first, v.second, v.element);
  }
  if (changed_cases) *changed_cases = std::move(changed);
}

void BoundProperty::judge_alone(const Batch& cases, const Outcomes& base, std::vector<Verdict>& verdicts) const {
  const std::vector<int> broken = property_->broken_elements(*unit_, cases, base);
  verdicts.assign(cases.size(), {});
  SpecialOperands special(cases);
  for (size_t i = 0; i < cases.size(); ++i) {
    Verdict& v = verdicts[i];
    v.compared = base.has_answer(i);
    v.fails = v.compared && broken[i] >= 0;
    v.element = v.fails ? broken[i] : 0;
    v.first = v.second = base.results.get(i, v.element);
    if (v.fails) v.cls = value_class(cases.op(), special[i], v.first, v.second, v.element);
  }
}

size_t BoundProperty::check(const Batch& cases, const Outcomes& base, const ReportDivergence& report) const {
  std::vector<Verdict> verdicts;
  std::vector<Batch> changed_cases;
  const bool alone = property_->judges_alone();  // then the divergence has the case twice
  judge(cases, base, verdicts, alone ? nullptr : &changed_cases);
  size_t compared = 0;
  Divergence found[value_class_count];
  uint64_t count[value_class_count] = {};
  for (size_t i = 0; i < cases.size(); ++i) {
    const Verdict& v = verdicts[i];
    compared += v.compared;
    if (!v.fails || count[static_cast<int>(v.cls)]++ > 0) continue;
    Divergence& d = found[static_cast<int>(v.cls)];
    d.key = {property_->name(), op_label(cases.op()), {unit_->name()}, name_of(v.cls)};
    d.severity = severity_;
    d.cases = cases.part(i);
    if (has_plain_changed_case()) d.cases.append(alone ? cases : changed_cases[0], i);
    if (!property_->is_about_answering()) d.results = {v.first, v.second};
    d.element = v.element;
    // A model has no state. A unit of this machine may remember earlier cases, and then breaks any property.
    if (is_of_this_machine(unit_->role())) keep_cases_before(d, cases, i);
  }
  for (int cls = 0; cls < value_class_count; ++cls)
    if (count[cls]) report(std::move(found[cls]), count[cls]);
  return compared;
}

size_t compare_units(const char* property, Severity severity, const Batch& batch, const std::string& first_name,
                     const Outcomes& first, const std::string& second_name, const Outcomes& second,
                     const ReportDivergence& report) {
  SpecialOperands special(batch);
  const DifferenceTally tally = tally_differences(batch, special, first, second);
  for (int cls = 0; cls < value_class_count; ++cls) {
    if (tally.count[cls] == 0) continue;
    const size_t i = tally.first[cls];
    const int e = tally.element[cls];
    report(make_divergence(property, severity, batch, i, static_cast<ValueClass>(cls), first_name,
                           first.results.get(i, e), second_name, second.results.get(i, e), e),
           tally.count[cls]);
  }
  return tally.compared;
}

}  // namespace mmafuzz
