#include "triage/unexplained/own_unit.h"

#include <algorithm>
#include <functional>

#include "arithmetic/corner_encodings.h"
#include "oracles/models/parameters.h"
#include "triage/unexplained/effect.h"
#include "triage/unexplained/condition.h"
#include "triage/operands.h"
#include "triage/replacements.h"
#include "triage/simplifications.h"

namespace mmafuzz {
namespace {

constexpr size_t least_telling = 4;        ///< cases of each sign that must tell a fitting value from the claimed one
constexpr size_t simple_cases_each = 256;  ///< of each number of addends, on which a value must fit

constexpr char it_differs[] = "it differs ";
constexpr int64_t few_values = 16;  ///< numbers that are all tried

/// Other values of a parameter that a wrong row may have: all words, all of few numbers, of others those near, half and
/// double.
std::vector<std::string> other_values(const Parameter& p, const DotModel& model) {
  std::vector<std::string> values;
  if (p.hexadecimal) return values;
  for (const std::string& word : p.words)
    if (word != parameter_text(p, model)) values.push_back(word);
  if (!p.words.empty()) return values;
  const int64_t now = p.get(model);
  for (int64_t value = p.least; p.greatest - p.least <= few_values && value <= p.greatest; ++value)
    if (value != now) values.push_back(std::to_string(value));
  if (!values.empty()) return values;
  for (const int64_t value : {now - 1, now + 1, now - 2, now + 2, now / 2, now * 2, now / 4, now * 4})
    if (value != now && value >= p.least && value <= p.greatest) values.push_back(std::to_string(value));
  return values;
}

/// On how many cases two units differ, by the sign of the first one's result.
struct Differences {
  size_t positive = 0, negative = 0;
  size_t all() const { return positive + negative; }
};

Differences differences(const Batch& cases, const Outcomes& x, const Outcomes& y) {
  Differences n;
  for (size_t i = 0; i < cases.size(); ++i)
    if (x.has_answer(i) && y.has_answer(i) && first_difference(cases, x.results, y.results, i) >= 0)
      ++(decode(cases.op().d.fields(), x.results.get(i)).negative ? n.negative : n.positive);
  return n;
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

void negate_all(Operands& c) {
  for (const int addend : c.nonzero_addends()) flip_sign(c, c.operands_of(addend)[0]);
}

/// A case; what it becomes in other lanes, negated, scaled, and with any one bit of a fraction changed; and simple
/// cases at the corners of an adder, in all lanes.
Batch cases_to_fit(const Op& op, int fraction_bits, const Batch& one) {
  Batch all(op);
  const auto add = [&](const Operands& operands) {
    all.resize(all.size() + 1);
    operands.store(all, all.size() - 1);
  };
  const Operands witness(op, one, 0);
  for (int lanes = 0; lanes < op.k; ++lanes) {
    Operands moved = rotated(witness, static_cast<size_t>(lanes));
    add(moved);
    negate_all(moved);
    add(moved);
  }
  for (size_t at = 0; at < witness.size(); ++at) {
    const FormatFields& f = witness.format(at);
    for (int bit = 0; bit < f.fraction_bits && f.has_sign(); ++bit) {
      Operands changed = witness;
      changed[at] ^= f.in_container(uint64_t{1} << bit);
      add(changed);
      negate_all(changed);
      add(changed);
    }
  }
  for (const int by : {1, -1, 4}) {
    Operands scaled = witness;
    if (scale_case(scaled, by)) add(scaled);
  }
  for (int addends = 1; addends <= 4; ++addends)
    for (const Operands& simple : small_cases(op, addends, fraction_bits, false, simple_cases_each)) {
      add(simple);
      // In other lanes as well: a block may end between any two of them.
      add(rotated(simple, all.size() / 2 % static_cast<size_t>(op.k)));
    }
  return all;
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// Rising numbers: "1, 3 to 7".
std::string ranges(const std::vector<size_t>& numbers) {
  std::vector<std::string> words;
  for (size_t first = 0, last = 0; first < numbers.size(); first = ++last) {
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    const char* between = last == first + 1 ? ", " : " to ";
    words.push_back(std::to_string(numbers[first]) + (last > first ? between + std::to_string(numbers[last]) : ""));
  }
  return listed(words);
}

}  // namespace

bool OwnUnit::speaks_of(const Judge& judge) {
  if (judge.is_about_answering()) return true;
  return judge.property() == "equals_model" && judge.op().kind == OpKind::dot && judge.units().size() == 2 &&
         !judge.units()[0]->model();
}

std::string OwnUnit::describe(const Batch& one) const {
  if (judge_.is_about_answering()) {
    Outcomes own;
    judge_.units()[0]->run(one, own);
    return own.how_failed;
  }
  std::vector<Variant> variants;
  if (judge_.units()[1]->model()) variants = variants_of_row();
  if (const std::optional<std::string> fit = fitting_parameter(one, variants)) return *fit;
  Surroundings near = surroundings_of(judge_, one, 1), others = surroundings_of(judge_, one, 2);
  std::string text = condition_and_effect(near, others, variants);
  if (text.empty()) text = "no change of one operand, one parameter, the last sum or the result makes it";
  const std::string stays = where_it_stays(one, !text.starts_with(it_differs));
  if (!stays.empty()) text += "; " + stays;
  return text + (variants.empty() ? "" : "; no other value of one parameter fits");
}

std::string OwnUnit::describe_sequence(const Batch& sequence) const {
  Surroundings near = surroundings_after(judge_, registry_, sequence, 1),
               others = surroundings_after(judge_, registry_, sequence, 2);
  return condition_and_effect(near, others, {});
}

std::string OwnUnit::condition_and_effect(Surroundings& near, Surroundings& others,
                                          const std::vector<Variant>& variants) const {
  const Unit& claimed = *judge_.units()[1];
  const Effect effect = effect_of(near, claimed, variants);
  for (Surroundings* walk : {&near, &others}) walk->seen = effect.visible(*walk, walk->agree);
  const std::string condition = condition_of(claimed, near, others);
  std::string text = condition.empty() ? "" : it_differs + condition;
  if (!effect.text.empty()) text += (text.empty() ? "" : "; ") + effect.text;
  return text;
}

std::vector<Variant> OwnUnit::variants_of_row() const {
  const DotModel& model = *judge_.units()[1]->model();
  std::vector<Variant> variants;
  for (const Parameter& p : parameters()) {
    DotModel of_other_k = model;
    of_other_k.k *= 2;  // of whole blocks, as a shorter one that divides a block is another block
    if (!p.used_by(model.kernel) || never_shows(p.name, model, of_other_k)) continue;
    for (const std::string& value : other_values(p, model)) {
      const std::string name = with_overrides_in_name(judge_.units()[1]->name(), std::string(p.name) + "=" + value);
      if (Result<std::unique_ptr<Unit>> unit = registry_.bind(name, judge_.op()))
        variants.push_back(
            {std::string(p.name), std::string(p.meaning), parameter_text(p, model), value, std::move(*unit)});
    }
  }
  return variants;
}

std::optional<std::string> OwnUnit::fitting_parameter(const Batch& one, const std::vector<Variant>& variants) const {
  if (variants.empty()) return std::nullopt;
  Outcomes own, claimed;
  const Batch cases = cases_to_fit(judge_.op(), judge_.units()[1]->model()->fraction_bits, one);
  judge_.units()[0]->run(cases, own);
  judge_.units()[1]->run(cases, claimed);
  for (const Variant& variant : variants) {
    Outcomes outcomes;
    variant.unit->run(cases, outcomes);
    if (differences(cases, own, outcomes).all()) continue;
    const Differences telling = differences(cases, claimed, outcomes);
    // One witness fits many values, and a parameter knows no signs.
    if (telling.positive < least_telling || telling.negative < least_telling) continue;
    return variant.parameter + " (" + variant.meaning + "): " + variant.claimed + " is claimed, " + variant.value +
           " fits " + std::to_string(cases.size()) + " cases (the witness and what is near it, and simple ones), " +
           std::to_string(telling.all()) + " of which tell the two apart";
  }
  return std::nullopt;
}

std::string OwnUnit::where_it_stays(const Batch& one, bool under_changes) const {
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
  std::vector<size_t> products, shifts;
  for (const int addend : witness.nonzero_addends())
    if (addend < judge_.op().k) products.push_back(static_cast<size_t>(addend));
  for (size_t by = 1; !products.empty() && by < k; ++by)
    if (fails(rotated(witness, by))) shifts.push_back(by);
  if (!products.empty() && k > 1) {
    if (shifts.size() + 1 == k) {
      stays.emplace_back("in every lane");
    } else if (products.size() > 1) {
      if (shifts.empty()) goes.emplace_back("in any other lanes");
      else stays.push_back("with its products moved on by " + ranges(shifts) + " lanes");
    } else {
      std::vector<size_t> lanes = {products[0]};
      for (const size_t by : shifts) lanes.push_back((products[0] + by) % k);
      std::sort(lanes.begin(), lanes.end());
      stays.push_back((lanes.size() == 1 ? "in lane " : "in lanes ") + ranges(lanes) + " only");
    }
  }
  if (under_changes) {
    look("when every addend is negated", [](Operands& c) {
      negate_all(c);
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
  }
  std::string text = stays.empty() ? "" : "the difference stays " + listed(stays);
  if (!goes.empty()) text += std::string(stays.empty() ? "the difference" : "; it") + " goes " + listed(goes);
  return text;
}

}  // namespace mmafuzz
