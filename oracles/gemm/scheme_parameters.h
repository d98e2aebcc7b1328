// Parameters of a scheme for matrix products: what follows `?` in the name of a unit that runs on a dot unit.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/unit_name.h"
#include "core/text.h"
#include "oracles/families.h"

namespace mmafuzz::gemm {

/// The numbers that a parameter can have; without any it takes words alone.
struct NumberRange {
  int least = 1, greatest = 0;
};
/// The value with which a parameter loses no bits ("": the parameter is not given); null: there is none.
struct Lossless {
  const char* value = nullptr;
};

template <class Plan>
struct SchemeParameter {
  const char *name, *meaning, *allowed;
  std::vector<std::pair<const char*, int>> words = {};  ///< words that can be given for numbers
  NumberRange numbers = {};
  void (*set)(Plan&, int);
  int (*get)(const Plan&);
  Lossless lossless = {};
  /// For values that are no numbers, if not null: set_text sets one and returns the reason if that is impossible;
  /// get_text returns it as a name gives it, or an empty string if the value is a number.
  std::string (*set_text)(Plan&, std::string_view) = nullptr;
  std::string (*get_text)(const Plan&) = nullptr;

  /// False, with an unspecified `value`, for a text that is not allowed.
  bool parse(std::string_view text, int& value) const {
    for (const auto& [word, number] : words) {
      if (text != word) continue;
      value = number;
      return true;
    }
    return parse_number(text, value) && value >= numbers.least && value <= numbers.greatest;
  }
  /// The value as a name gives it; empty where a name cannot give it.
  std::string text_of(const Plan& plan) const {
    if (get_text)
      if (const std::string text = get_text(plan); !text.empty()) return text;
    const int value = get(plan);
    for (const auto& [word, number] : words)
      if (value == number) return word;
    return value < numbers.least ? "" : std::to_string(value);
  }
};

/// A member of a plan as a number.
template <auto member>
struct PlanMember;
template <class Owner, class T, T Owner::*member>
struct PlanMember<member> {
  using Plan = Owner;
  static void set(Plan& plan, int value) { plan.*member = static_cast<T>(value); }
  static int get(const Plan& plan) { return static_cast<int>(plan.*member); }
};

/// A parameter that is a number, or a word for one.
template <auto member>
auto number_parameter(const char* name, const char* meaning, const char* allowed, NumberRange numbers,
                      Lossless lossless = {}, std::vector<std::pair<const char*, int>> words = {}) {
  using Member = PlanMember<member>;
  return SchemeParameter<typename Member::Plan>{name,    meaning,     allowed,     std::move(words),
                                                numbers, Member::set, Member::get, lossless};
}
/// How many products one dot of the unit has.
template <auto member>
auto unit_k_parameter() {
  return number_parameter<member>("unit_k", "products of one dot of the unit", "a number of products", {1, max_extent});
}
/// A parameter that is one of `words`, which are numbered from 0.
template <auto member>
auto word_parameter(const char* name, const char* meaning, const char* allowed, const std::vector<const char*>& words,
                    Lossless lossless = {}) {
  std::vector<std::pair<const char*, int>> numbered;
  for (const char* word : words) numbered.push_back({word, static_cast<int>(numbered.size())});
  return number_parameter<member>(name, meaning, allowed, NumberRange{}, lossless, std::move(numbered));
}

/// `named` with the settings of a unit's name: the parameters in `table`, and `on=`, if Named has a dot unit.
template <class Named, class Plan>
Result<Named> with_settings(const std::vector<SchemeParameter<Plan>>& table, std::string_view settings, Named named) {
  constexpr bool over_unit = requires { named.dot_unit; };
  for (const auto& [name, text] : settings_of(settings)) {
    if constexpr (over_unit)
      if (name == "on") {
        named.dot_unit = text;
        continue;
      }
    const SchemeParameter<Plan>* const found = entry_named(table, name);
    if (!found)
      return invalid("unknown parameter " + mmafuzz::in_quotes(name) + "; known: " + names_in_table(table, " ") + " " +
                     (over_unit ? "and last, on=<dot unit>" : ""));
    int value = 0;
    if (found->set_text && text.find_first_not_of("0123456789") != std::string_view::npos) {
      if (const std::string why = found->set_text(named.plan, text); !why.empty()) return invalid(why);
      continue;
    }
    if (!found->parse(text, value)) return invalid(std::string("parameter ") + found->name + " is " + found->allowed);
    found->set(named.plan, value);
  }
  return named;
}

template <class Plan>
FamilyParameters scheme_parameters(const char* units, const std::vector<SchemeParameter<Plan>>& table) {
  FamilyParameters all{units, {}};
  for (const SchemeParameter<Plan>& p : table) all.parameters.push_back({p.name, p.meaning, p.allowed});
  return all;
}

template <class Plan>
std::vector<Setting> scheme_settings(const std::vector<SchemeParameter<Plan>>& table, const Plan& plan) {
  std::vector<Setting> all;
  for (const SchemeParameter<Plan>& p : table)
    all.push_back(
        {p.name, p.text_of(plan), p.lossless.value ? std::optional<std::string>(p.lossless.value) : std::nullopt});
  return all;
}

/// Whether an op is a product of matrices that are all of format f.
inline bool is_gemm_of(const Format& f, const Op& op) {
  return op.kind == OpKind::gemm && op.a == f && op.b == f && op.c == f && op.d == f;
}
/// A unit's refusal of other ops.
inline Refusal takes_gemm_of(const Format& f, const std::string& unit) {
  const std::string& name = f.name();
  return declined(unit + " takes 'op gemm a=" + name + " b=" + name + " c=" + name + " d=" + name + "'");
}

/// The common base of families whose units run on a dot unit. Named: a plan, and `dot_unit`, that unit's name.
template <class Named>
class SchemeFamily : public Family {
 public:
  using Parameters = std::vector<SchemeParameter<decltype(Named::plan)>>;

  Role role(const std::string&) const override { return Role::scheme; }

  FamilyParameters parameters() const override {
    FamilyParameters all = scheme_parameters(units_, table_());
    all.parameters.push_back({"on", meaning_of_on_, "a dot unit"});
    return all;
  }

  std::vector<Setting> settings(const std::string& name) const override {
    const Result<Named> scheme = scheme_of(name);
    if (!scheme) return {};
    std::vector<Setting> all = scheme_settings(table_(), scheme->plan);
    all.push_back({"on", scheme->dot_unit, std::nullopt});
    return all;
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op&) const override {
    return declined(name + " runs on another unit: it needs a registry");
  }
  Result<std::unique_ptr<Unit>> bind_over(const Registry& registry, const std::string& name,
                                          const Op& op) const override {
    const Result<Named> scheme = scheme_of(name);
    if (!scheme) return invalid("unit " + name + ": " + scheme.refusal().reason);
    return bind_scheme(registry, UnitName(name), *scheme, op);
  }

 protected:
  SchemeFamily(const char* units, const Parameters& (*table)(), const char* meaning_of_on)
      : units_(units), table_(table), meaning_of_on_(meaning_of_on) {}
  /// The plan of a unit's name.
  virtual Result<Named> scheme_of(const std::string& name) const = 0;
  virtual Result<std::unique_ptr<Unit>> bind_scheme(const Registry& registry, const UnitName& name, const Named& scheme,
                                                    const Op& op) const = 0;

 private:
  const char* units_;
  const Parameters& (*table_)();  ///< makes the table where it is first needed
  const char* meaning_of_on_;
};

}  // namespace mmafuzz::gemm
