#include "triage/facts/fact_name.h"

#include <algorithm>
#include <optional>

#include "core/unit_name.h"
#include "core/text.h"
#include "oracles/models/parameters.h"

namespace mmafuzz {
namespace {

constexpr std::string_view claim_prefix = "claim/", answers_prefix = "answers/";
constexpr std::string_view ieee_prefix = "ieee";

std::optional<int64_t> number(const std::string& text) {
  int64_t value = 0;
  return parse_number(text, value) ? std::optional(value) : std::nullopt;
}

/// Order of the values in a name: numbers by value, then words by text.
bool stands_before(const std::string& x, const std::string& y) {
  const std::optional<int64_t> a = number(x), b = number(y);
  if (a && b) return *a < *b;
  if (a || b) return a.has_value();
  return x < y;
}

bool is_ieee(const std::string& arithmetic) { return arithmetic.starts_with(ieee_prefix) && arithmetic != "ieee_tree"; }

bool is_exact(const std::string& arithmetic) { return arithmetic == "exact" || arithmetic == exact_kernel; }

}  // namespace

std::string difference_fact(const std::string& parameter, const std::string& x, const std::string& y) {
  const bool ordered = stands_before(x, y);
  return parameter + "=" + (ordered ? x : y) + "~" + (ordered ? y : x);
}

std::string property_fact(const std::string& property, const std::string& arithmetic) {
  return property + "/" + (is_ieee(arithmetic) ? std::string(ieee_prefix) : arithmetic);
}

std::string claim_fact(const std::string& unit, const std::string& property) {
  return std::string(property == "answers" ? answers_prefix : claim_prefix) + unit;
}
bool is_claim_fact(const std::string& name) {
  return name.starts_with(claim_prefix) || name.starts_with(answers_prefix);
}

FactParts parts_of_fact(const std::string& name) {
  if (is_claim_fact(name)) return {FactParts::Kind::claim, "", name.substr(name.find('/') + 1), ""};
  const size_t equals = name.find('='), slash = name.find('/'), tilde = name.find('~');
  if (slash < equals) return {FactParts::Kind::property, name.substr(0, slash), name.substr(slash + 1), ""};
  if (equals == std::string::npos) return {FactParts::Kind::difference, name, "", ""};
  return {FactParts::Kind::difference, name.substr(0, equals), name.substr(equals + 1, tilde - equals - 1),
          tilde == std::string::npos ? "" : name.substr(tilde + 1)};
}

std::string arithmetic_of(const Unit& unit, const DotModel* row) {
  return row ? parameter_text(*find_parameter("kernel"), *row) : UnitName(unit.name()).plain();
}

std::string operation_of(const Unit& unit) {
  const auto rounds_correctly = [](const Claim& claim) {
    return claim.property == "equals_model" && (claim.detail == "ieee" || claim.detail == "exact");
  };
  const bool correct =
      unit.role() == Role::ieee || std::any_of(unit.claims().begin(), unit.claims().end(), rounds_correctly);
  return correct ? "exact" : UnitName(unit.name()).plain();
}

std::string kernel_fact(const std::string& x, const std::string& y) {
  const bool both = is_ieee(x) && is_ieee(y);
  const auto kind = [&](const std::string& arithmetic) {
    if (is_exact(arithmetic) && !(is_exact(x) && is_exact(y))) return std::string(exact_kernel);
    return is_ieee(arithmetic) && !both ? std::string(ieee_prefix) : arithmetic;
  };
  return difference_fact("kernel", kind(x), kind(y));
}

}  // namespace mmafuzz
