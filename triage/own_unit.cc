#include "triage/own_unit.h"

#include <algorithm>
#include <functional>

#include "arithmetic/corner_encodings.h"
#include "oracles/models/parameters.h"
#include "triage/operands.h"
#include "triage/replacements.h"
#include "triage/simplifications.h"

namespace mmafuzz {
namespace {

constexpr size_t least_telling = 8;        ///< cases that must tell a fitting value from the claimed one
constexpr size_t simple_cases_each = 256;  ///< of each number of addends, on which a value must fit

/// Other values of a parameter that a wrong row may have: all words, and numbers near, half and double.
std::vector<std::string> other_values(const Parameter& p, const DotModel& model) {
  std::vector<std::string> values;
  if (p.hexadecimal) return values;
  for (const std::string& word : p.words)
    if (word != parameter_text(p, model)) values.push_back(word);
  if (!p.words.empty()) return values;
  const int64_t now = p.get(model);
  for (const int64_t value : {now - 1, now + 1, now - 2, now + 2, now / 2, now * 2, now / 4, now * 4})
    if (value != now && value >= p.least && value <= p.greatest) values.push_back(std::to_string(value));
  return values;
}

/// Simple cases at the corners of an adder, and one more case.
Batch cases_to_fit(const Op& op, int fraction_bits, const Batch& one) {
  Batch all(op);
  all.append(one, 0);
  for (int addends = 1; addends <= 4; ++addends)
    for (const Operands& simple : small_cases(op, addends, fraction_bits, false, simple_cases_each)) {
      all.resize(all.size() + 1);
      simple.store(all, all.size() - 1);
    }
  return all;
}

size_t differences(const Op& op, const Outcomes& x, const Outcomes& y, size_t count) {
  size_t n = 0;
  for (size_t i = 0; i < count; ++i)
    n += x.has_answer(i) && y.has_answer(i) && first_difference(op, x.results, y.results, i) >= 0;
  return n;
}

void negate(Operands& c, size_t at) {
  const FormatFields& f = c.format(at);
  c[at] ^= f.in_container(f.sign_bit());
}

/// The operand times 2^by; false where its format does not hold that.
bool scale(Operands& c, size_t at, int by) {
  const FormatFields& f = c.format(at);
  const int exponent = leading_exponent(f, c[at]);
  const uint64_t scaled = with_exponent(f, c[at], exponent + by);
  if (leading_exponent(f, scaled) != exponent + by || scaled == c[at]) return false;
  c[at] = scaled;
  return true;
}

bool scale_case(Operands& c, int by) {
  for (const int addend : c.nonzero_addends())
    if (!scale(c, c.operands_of(addend)[0], by)) return false;
  return true;
}

/// Every product `by` lanes further, in a circle.
Operands rotated(const Operands& from, size_t by) {
  Operands c = from;
  const size_t k = static_cast<size_t>(from.op().k);
  for (size_t i = 0; i < k; ++i) {
    c[(i + by) % k] = from[i];
    c[k + (i + by) % k] = from[k + i];
  }
  return c;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

bool OwnUnit::speaks_of(const Judge& judge) {
  return judge.property() == "equals_model" && judge.op().kind == OpKind::dot && judge.units().size() == 2 &&
         !judge.units()[0]->model() && judge.units()[1]->model() && !judge.op().a.fields().integer;
}

std::string OwnUnit::describe(const Batch& one) const {
  const std::optional<std::string> fit = fitting_parameter(one);
  return fit ? *fit : where_it_stays(one);
}

std::optional<std::string> OwnUnit::fitting_parameter(const Batch& one) const {
  const Op& op = judge_.op();
  const DotModel& model = *judge_.units()[1]->model();
  const Batch cases = cases_to_fit(op, model.fraction_bits, one);
  Outcomes own, claimed;
  judge_.units()[0]->run(cases, own);
  judge_.units()[1]->run(cases, claimed);
  for (const Parameter& p : parameters()) {
    if (!p.used_by(model.kernel)) continue;
    for (const std::string& value : other_values(p, model)) {
      const std::string name = with_overrides_in_name(judge_.units()[1]->name(), std::string(p.name) + "=" + value);
      const Result<std::unique_ptr<Unit>> unit = registry_.bind(name, op);
      if (!unit) continue;
      Outcomes outcomes;
      (*unit)->run(cases, outcomes);
      if (differences(op, own, outcomes, cases.size())) continue;
      const size_t telling = differences(op, claimed, outcomes, cases.size());
      if (telling < least_telling) continue;  // one witness fits many values
      return std::string(p.name) + " (" + p.meaning + "): " + parameter_text(p, model) + " is claimed, " + value +
             " fits the witness and " + std::to_string(cases.size() - 1) + " simple cases, " + std::to_string(telling) +
             " of which tell the two apart";
    }
  }
  return std::nullopt;
}

std::string OwnUnit::where_it_stays(const Batch& one) const {
  const Operands witness(judge_.op(), one, 0);
  const auto fails = [&](const Operands& changed) {
    Batch batch(judge_.op());
    batch.resize(1);
    changed.store(batch, 0);
    return judge_.judge(batch)[0].fails;
  };
  std::vector<std::string> stays, goes;
  const auto look = [&](const char* what, const std::function<bool(Operands&)>& change) {
    Operands changed = witness;
    if (change(changed) && !(changed == witness)) (fails(changed) ? stays : goes).push_back(what);
  };
  const size_t k = static_cast<size_t>(judge_.op().k);
  std::vector<std::string> shifts;
  bool moves = false;
  for (const int addend : witness.nonzero_addends()) moves |= addend < judge_.op().k;
  for (size_t by = 1; moves && by < k; ++by)
    if (fails(rotated(witness, by))) shifts.push_back(std::to_string(by));
  if (moves && shifts.size() + 1 == k) stays.emplace_back("in every lane");
  else if (moves && shifts.empty()) goes.emplace_back("in any other lanes");
  else if (moves) stays.push_back("with its products moved on by " + joined(shifts) + " lanes");
  look("when every addend is negated", [](Operands& c) {
    for (const int addend : c.nonzero_addends()) negate(c, c.operands_of(addend)[0]);
    return true;
  });
  look("when the factors are swapped", [&](Operands& c) {
    for (size_t i = 0; i < k; ++i) std::swap(c[i], c[k + i]);
    return c.format(0).width == c.format(k).width && judge_.op().a == judge_.op().b;
  });
  look("when scaled by 2", [](Operands& c) { return scale_case(c, 1); });
  look("when scaled by 1/2", [](Operands& c) { return scale_case(c, -1); });
  look("when scaled by 16", [](Operands& c) { return scale_case(c, 4); });
  look("when c is zero", [&](Operands& c) {
    c.clear(2 * k);
    return true;
  });
  std::string text = "no other value of one parameter fits";
  if (!stays.empty()) text += "; the difference stays " + joined(stays);
  if (!goes.empty()) text += "; it goes " + joined(goes);
  return text;
}

}  // namespace mmafuzz
