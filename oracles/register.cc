#include "oracles/families.h"

namespace mmafuzz {

void add_oracle_units(Registry& registry) {
#define MMAFUZZ_FAMILY(name) registry.add(make_##name##_family());
#include "oracles/families.def.h"
#undef MMAFUZZ_FAMILY
}

Registry oracle_registry() {
  Registry registry;
  add_oracle_units(registry);
  return registry;
}

}  // namespace mmafuzz
