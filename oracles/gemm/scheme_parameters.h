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

/// The row of that name in a table of units; null where there is none.
template <class Rows>
auto row_named(const Rows& rows, std::string_view name) -> decltype(&*std::begin(rows)) {
  for (const auto& row : rows)
    if (name == row.name) return &row;
  return nullptr;
}

template <class Plan>
struct SchemeParameter {
  const char *name, *meaning, *allowed;
  std::vector<std::pair<const char*, int>> words;  ///< words that stand for numbers
  int least, greatest;                             ///< numbers that may be given; least above greatest: none
  void (*set)(Plan&, int);
  int (*get)(const Plan&);
  const char* exact = nullptr;  ///< the value that loses nothing; empty: not to be given, null: says nothing
  /// Of a value that is no number: sets it, or says why it is none; and the value as a name gives it, empty where it is
  /// a number.
  std::string (*set_text)(Plan&, std::string_view) = nullptr;
  std::string (*get_text)(const Plan&) = nullptr;

  bool parse(std::string_view text, int& value) const {
    for (const auto& [word, number] : words) {
      if (text != word) continue;
      value = number;
      return true;
    }
    return parse_number(text, value) && value >= least && value <= greatest;
  }
  /// The value as a name gives it; empty where it is none that a name can give.
  std::string text_of(const Plan& plan) const {
    if (get_text)
      if (const std::string text = get_text(plan); !text.empty()) return text;
    const int value = get(plan);
    for (const auto& [word, number] : words)
      if (value == number) return word;
    return value < least ? "" : std::to_string(value);
  }
};

/// A plan, and where it has one the unit of its dots, changed by the settings of a name.
template <class Named, class Plan>
Result<Named> with_settings(const std::vector<SchemeParameter<Plan>>& table, std::string_view settings, Named named) {
  constexpr bool over_unit = requires { named.on; };
  for (const auto& [name, text] : settings_of(settings)) {
    if constexpr (over_unit)
      if (name == "on") {
        named.on = text;
        continue;
      }
    const SchemeParameter<Plan>* found = nullptr;
    std::string known;
    for (const SchemeParameter<Plan>& p : table) {
      known += std::string(p.name) + " ";
      if (name == p.name) found = &p;
    }
    if (!found)
      return invalid("unknown parameter " + mmafuzz::in_quotes(name) + "; known: " + known +
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
FamilyParameters scheme_parameters(const char* units, const std::vector<SchemeParameter<Plan>>& table,
                                   const char* meaning_of_on) {
  FamilyParameters all = scheme_parameters(units, table);
  all.parameters.push_back({"on", meaning_of_on, "a dot unit"});
  return all;
}

template <class Plan>
std::vector<Setting> scheme_settings(const std::vector<SchemeParameter<Plan>>& table, const Plan& plan) {
  std::vector<Setting> all;
  for (const SchemeParameter<Plan>& p : table)
    all.push_back({p.name, p.text_of(plan), p.exact ? std::optional<std::string>(p.exact) : std::nullopt});
  return all;
}
template <class Plan>
std::vector<Setting> scheme_settings(const std::vector<SchemeParameter<Plan>>& table, const Plan& plan,
                                     const std::string& on) {
  std::vector<Setting> all = scheme_settings(table, plan);
  all.push_back({"on", on, std::nullopt});
  return all;
}

}  // namespace mmafuzz::gemm
