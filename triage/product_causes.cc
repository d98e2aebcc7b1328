#include "triage/product_causes.h"

#include <algorithm>
#include <map>

#include "arithmetic/decode.h"
#include "core/unit_name.h"
#include "oracles/families.h"
#include "triage/bucket.h"
#include "triage/facts/fact_name.h"
#include "triage/subsets.h"

namespace mmafuzz {
namespace {

constexpr size_t max_steps = 4;  ///< limit of steps replaced together; beyond it all are replaced at once
constexpr char special_values[] = "specials_rule", zero_signs[] = "zero_sign", scheme_itself[] = "kernel";

/// What a difference that remains is due to: the word after the scheme's name.
struct Remainder {
  const char *name, *meaning;
};
constexpr Remainder remainders[] = {{special_values, "results for infinities and NaNs"},
                                    {zero_signs, "signs of zeros"},
                                    {"format", "format of the slices or parts"}};

std::string dotted(const std::string& scheme, const std::string& word) { return scheme + "." + word; }

bool is_special(const Number& x, const Number& y) {
  const auto special = [](const Number& n) { return n.cls == NumberClass::nan || n.cls == NumberClass::infinity; };
  return special(x) || special(y);
}

bool is_zero(const Number& x, const Number& y) { return x.cls == NumberClass::zero && y.cls == NumberClass::zero; }

/// Whether `kind` holds for both numbers in every element in which two results differ.
bool every_difference(const Op& op, const Column& x, const Column& y, size_t index,
                      bool (*kind)(const Number&, const Number&)) {
  for (int e = 0; e < x.count(); ++e) {
    const uint64_t one = x.get(index, e), other = y.get(index, e);
    if (!same_result(op, one, other) && !kind(decode(op.d.fields(), one), decode(op.d.fields(), other))) return false;
  }
  return true;
}

/// The last part of "ozaki:dgemm.fp16".
std::string format_in(const std::string& path) { return path.substr(path.rfind('.') + 1); }

class ProductCauses final : public CauseMethod {
 public:
  ProductCauses(const Judge& judge, const Registry& registry) : judge_(judge), registry_(registry) {
    std::vector<Setting> sides[2];
    for (size_t i = 0; i < 2; ++i) sides[i] = registry.settings(judge.units()[i]->name());
    replaced_ = sides[0].empty() ? 1 : 0;
    settings_ = sides[replaced_];
    const std::vector<Setting>& other_settings = sides[1 - replaced_];
    const UnitName name(judge.units()[replaced_]->name()), other(judge.units()[1 - replaced_]->name());
    is_same_scheme_ = name.backend == other.backend;
    scheme_ = name.backend;
    if (!other_settings.empty() && other.backend < scheme_) scheme_ = other.backend;
    const bool has_other_format = is_same_scheme_ && name.path != other.path;
    Step format{dotted(scheme_, "format"), format_in(name.path), format_in(other.path), {}, other.path};
    for (size_t i = 0; i < settings_.size(); ++i) {
      const Setting& s = settings_[i];
      std::optional<std::string> wanted = s.exact;
      if (is_same_scheme_) wanted = other_settings[i].value;
      if (!wanted || *wanted == s.value) continue;
      if (has_other_format && s.name == "on")
        format.settings.emplace_back(s.name, *wanted);  // each format runs on another unit
      else steps_.push_back({dotted(scheme_, s.name), s.value, *wanted, {{s.name, *wanted}}, ""});
    }
    if (has_other_format) steps_.push_back(std::move(format));
  }

  std::vector<std::string> find(const Batch& cases, const std::vector<Verdict>& verdicts) override {
    const Op& op = judge_.op();
    std::vector<std::string> causes(cases.size(), unexplained);
    Outcomes of_replaced, of_other;
    judge_.units()[replaced_]->run(cases, of_replaced);
    judge_.units()[1 - replaced_]->run(cases, of_other);
    size_t open = cases.size();
    const auto explain = [&](const std::vector<size_t>& set) {
      const Unit* unit = bound(replaced_name(set));
      if (!unit) return open > 0;
      const Outcomes with_set = unit->outcomes_of(cases);
      std::string words;
      for (const size_t i : set) words += (words.empty() ? "" : ",") + steps_[i].word;
      for (size_t i = 0; i < cases.size(); ++i)
        if (causes[i] == unexplained && first_difference(cases, with_set.results, of_other.results, i) < 0) {
          causes[i] = words;
          --open;
        }
      return open > 0;
    };
    for (size_t size = 1; size <= std::min(max_steps, steps_.size()) && open > 0; ++size)
      each_subset(steps_.size(), size, explain);
    if (steps_.size() > max_steps && open > 0) each_subset(steps_.size(), steps_.size(), explain);
    for (size_t i = 0; i < cases.size() && !is_same_scheme_; ++i) {
      if (causes[i] != unexplained) continue;
      const bool special_operands = verdicts[i].cls == ValueClass::special;
      causes[i] = special_operands && every_difference(op, of_replaced.results, of_other.results, i, is_special)
                      ? dotted(scheme_, special_values)
                  : every_difference(op, of_replaced.results, of_other.results, i, is_zero)
                      ? dotted(scheme_, zero_signs)
                      : scheme_itself;
    }
    return causes;
  }

  std::string detail_of_one(const std::string& word) const override {
    const std::string meaning = meaning_of_scheme_word(word);
    if (const Step* step = find_step(word)) {
      const auto text = [](const std::string& value) { return value.empty() ? std::string("as derived") : value; };
      const std::string before = text(step->before), after = text(step->after);
      return word + " (" + meaning +
             "): " + (replaced_ == 0 ? before + " against " + after : after + " against " + before);
    }
    return word + " (" + (meaning.empty() ? "the scheme" : meaning) + "): " + judge_.units()[0]->name() + " against " +
           judge_.units()[1]->name();
  }

  std::string fact_of_one(const std::string& word) const override {
    if (const Step* step = find_step(word)) {
      const auto text = [](const std::string& value) { return value.empty() ? std::string("derived") : value; };
      return difference_fact(word, text(step->before), text(step->after));
    }
    if (word == scheme_itself) return kernel_fact(scheme_of(0), scheme_of(1));
    return difference_fact(word, scheme_of(0), scheme_of(1));
  }

 private:
  /// One replaceable setting of the scheme, or its format with the settings that belong to the format.
  struct Step {
    std::string word, before, after;                            ///< the values before and after the replacement
    std::vector<std::pair<std::string, std::string>> settings;  ///< name and value after the replacement
    std::string path;                                           ///< of the unit's name after it; empty: unchanged
  };

  std::string replaced_name(const std::vector<size_t>& set) const {
    UnitName name(judge_.units()[replaced_]->name());
    std::vector<std::pair<std::string, std::string>> settings;
    for (const Setting& s : settings_) settings.emplace_back(s.name, s.value);
    for (const size_t i : set) {
      for (const auto& [replaced, value] : steps_[i].settings)
        for (auto& [setting, value_before] : settings)
          if (setting == replaced) value_before = value;
      if (!steps_[i].path.empty()) name.path = steps_[i].path;
    }
    std::erase_if(settings, [](const auto& s) { return s.second.empty(); });
    name.settings = settings_text(settings);
    return name.text();
  }

  const Unit* bound(const std::string& name) {
    const auto [at, is_new] = units_.try_emplace(name);
    if (is_new) at->second = bound_or_null(registry_, name, judge_.op());
    return at->second.get();
  }

  const Step* find_step(const std::string& word) const {
    for (const Step& step : steps_)
      if (step.word == word) return &step;
    return nullptr;
  }

  /// "ozaki", "exact", "ieee:fma", "model:..."
  std::string scheme_of(size_t side) const {
    const Unit& unit = *judge_.units()[side];
    const UnitName name(unit.name());
    return unit.role() == Role::scheme ? name.backend : arithmetic_of(unit, unit.model());
  }

  const Judge& judge_;
  const Registry& registry_;
  size_t replaced_ = 0;            ///< index of the unit whose settings are replaced
  bool is_same_scheme_ = false;    ///< then a case that no replacement explains stays unexplained
  std::string scheme_;             ///< with which words begin: "ozaki"
  std::vector<Setting> settings_;  ///< of the replaced unit
  std::vector<Step> steps_;
  std::map<std::string, std::unique_ptr<Unit>> units_;  ///< by name; nullptr: it does not bind
};

}  // namespace

std::unique_ptr<CauseMethod> product_causes(const Judge& judge, const Registry& registry) {
  const bool speaks = judge.op().kind == OpKind::gemm && judge.units().size() == 2 &&
                      std::any_of(judge.units().begin(), judge.units().end(),
                                  [&](const auto& unit) { return !registry.settings(unit->name()).empty(); });
  return speaks ? std::make_unique<ProductCauses>(judge, registry) : nullptr;
}

std::string meaning_of_scheme_word(const std::string& word) {
  const size_t dot = word.find('.');
  if (dot == std::string::npos) return "";
  const std::string scheme = word.substr(0, dot) + ":", name = word.substr(dot + 1);
  static const std::vector<FamilyParameters> all = {
#define MMAFUZZ_FAMILY(name) make_##name##_family()->parameters(),
#include "oracles/families.def.h"
#undef MMAFUZZ_FAMILY
  };
  for (const FamilyParameters& family : all)
    for (const FamilyParameters::Description& p : family.parameters)
      if (family.units.starts_with(scheme) && p.name == name) return p.meaning;
  const Remainder* remainder = entry_named(remainders, name);
  return remainder ? remainder->meaning : "";
}

bool is_scheme_setting(const std::string& word) {
  return !meaning_of_scheme_word(word).empty() && !word.ends_with(special_values) && !word.ends_with(zero_signs);
}

}  // namespace mmafuzz
