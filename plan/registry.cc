#include "plan/registry.h"

#include "gpu_bridge/register.h"
#include "oracles/families.h"
#include "plan/default_fields.h"

namespace mmafuzz {

const Registry& registry() {
  static const Registry all = [] {
    Registry r = oracle_registry();
    add_device_units(r);
    return r;
  }();
  return all;
}

std::vector<std::string> units_of(const std::vector<std::string>& patterns, const Op& op) {
  return patterns.empty() ? default_units(registry(), op) : matching_units(registry(), op, patterns);
}

}  // namespace mmafuzz
