// The families of units that need no device (families.def.h is the list).
#pragma once

#include "core/registry.h"

namespace mmafuzz {

#define MMAFUZZ_FAMILY(name) std::unique_ptr<Family> make_##name##_family();
#include "oracles/families.def.h"
#undef MMAFUZZ_FAMILY

/// Adds every family above to a registry; each executable calls this explicitly.
void add_oracle_units(Registry& registry);

/// A registry with these families alone.
Registry oracle_registry();

}  // namespace mmafuzz
