#include "plan/registry.h"

#include "gpu_bridge/register.h"
#include "oracles/families.h"
#include "plan/default_fields.h"
#include "plan/named_rows.h"
#include "plan/unit_alias.h"

namespace mmafuzz {

Registry make_registry() {
  Registry all = oracle_registry();
  add_device_units(all);
  all.set_alias(unit_of_alias, refusal_of_alias);
  return all;
}

const Registry& registry() {
  static const Registry all = make_registry();
  return all;
}

std::vector<std::string> units_of(const std::vector<std::string>& patterns, const Op& op) {
  const auto add_defaults = [&](std::vector<std::string>& names) {
    for (const std::string& unit : registry().searched_by_default(op)) names.push_back(unit);
    for (const std::string& unit : named_rows_of(op)) names.push_back(unit);
  };
  std::vector<std::string> names;
  if (patterns.empty()) {
    add_defaults(names);
    return names;
  }
  for (const std::string& pattern : patterns) {
    if (pattern == default_word) add_defaults(names);
    else if (const auto on_formats = unit_on_formats(pattern); !on_formats) names.push_back(unit_of_alias(pattern, op));
    else if (on_formats->takes(op)) names.push_back(on_formats->unit);
  }
  return matching_units(registry(), op, names);
}

}  // namespace mmafuzz
