#include "core/registry.h"

#include <algorithm>

#include "core/text.h"
#include "core/unit_name.h"

namespace mmafuzz {

namespace {

/// The family of a name without settings; nullptr where there is none.
const Family* family_of(const std::vector<std::unique_ptr<Family>>& families, const std::string& plain) {
  for (const auto& family : families)
    if (family->owns(plain)) return family.get();
  return nullptr;
}

}  // namespace

Result<std::unique_ptr<Unit>> Registry::bind(const std::string& text, const Op& op) const {
  const std::string name = alias_(text, op);
  if (name.ends_with('?')) return invalid("unit " + in_quotes(name) + ": nothing stands after the '?'");
  const UnitName parts(name);
  const std::string plain = parts.plain();
  if (const Family* family = family_of(families_, plain)) {
    if (const std::string twice = parts.repeated_setting(); !twice.empty())
      return invalid("unit " + in_quotes(name) + ": " + twice + "= is given twice");
    Result<std::unique_ptr<Unit>> unit = family->bind_over(*this, name, op);
    if (!unit) return unit;
    const std::string words = not_honoured(op, family->honours(name, op));
    if (!words.empty()) return declined(name + " does not honour " + words);
    (*unit)->set_role(role_of((*unit)->name()));
    std::vector<Claim> claims = (*unit)->claims();
    for (Claim& claim : claims)
      if (claim.property == "equals_model") claim.detail = alias_(claim.detail, op);
    (*unit)->describe((*unit)->name(), std::move(claims));
    return unit;
  }
  if (std::optional<Refusal> why = no_alias_(name, op)) return std::move(*why);
  std::string message = "unknown unit " + in_quotes(name);
  if (const std::vector<std::string> names = nearest(plain, 3); !names.empty())
    message += "; nearest: " + joined(names, ", ");
  return unknown(message);
}

bool Registry::knows(const std::string& name) const { return family_of(families_, UnitName(name).plain()) != nullptr; }

Role Registry::role_of(const std::string& name) const {
  const std::string plain = UnitName(name).plain();
  const Family* family = family_of(families_, plain);
  if (!family) return Role::other;
  const std::string inner = family->stands_for(name);
  return inner.empty() ? family->role(plain) : role_of(inner);
}

bool Registry::are_one(const std::string& x, const std::string& y, const Op& op) const {
  const Family* family = family_of(families_, UnitName(x).plain());
  return x == y || (family && family == family_of(families_, UnitName(y).plain()) && family->are_one(x, y, op));
}

std::vector<std::string> Registry::searched_by_default(const Op& op) const {
  std::vector<std::string> names;
  for (const auto& family : families_)
    for (std::string& name : family->searched_by_default(op))
      if (bind(name, op)) names.push_back(std::move(name));
  return names;
}

std::vector<FamilyParameters> Registry::parameters() const {
  std::vector<FamilyParameters> all;
  for (const auto& family : families_)
    if (FamilyParameters one = family->parameters(); !one.parameters.empty()) all.push_back(std::move(one));
  return all;
}

std::vector<Setting> Registry::settings(const std::string& name) const {
  const Family* family = family_of(families_, UnitName(name).plain());
  return family ? family->settings(name) : std::vector<Setting>();
}

std::vector<UnitInfo> Registry::list() const {
  std::vector<UnitInfo> all;
  for (const auto& family : families_)
    for (UnitInfo& info : family->list()) all.push_back(std::move(info));
  return all;
}

std::vector<std::string> Registry::nearest(const std::string& name, size_t count) const {
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const UnitInfo& info : list()) ranked.emplace_back(edit_distance(name.substr(0, 200), info.name), info.name);
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(count, ranked.size()); ++i) names.push_back(ranked[i].second);
  return names;
}

std::unique_ptr<Unit> bound_or_null(const Registry& registry, const std::string& name, const Op& op) {
  Result<std::unique_ptr<Unit>> unit = registry.bind(name, op);
  return unit ? std::move(*unit) : nullptr;
}

}  // namespace mmafuzz
