#include "oracles/families.h"

namespace mmafuzz {

void add_oracle_units(Registry& registry) {
  registry.add(make_exact_family());
  registry.add(make_ieee_family());
  registry.add(make_bulk_family());
  registry.add(make_model_family());
  registry.add(make_twin_family());
  registry.add(make_cpu_family());
  registry.add(make_recorded_family());
  registry.add(make_hypothesis_family());
  registry.add(make_plugin_family());
}

Registry oracle_registry() {
  Registry registry;
  add_oracle_units(registry);
  return registry;
}

}  // namespace mmafuzz
