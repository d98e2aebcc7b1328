// The families of units that need no device. A new family adds its maker here and to register.cc.
#pragma once

#include "core/registry.h"

namespace mmafuzz {

std::unique_ptr<Family> make_exact_family();
std::unique_ptr<Family> make_ieee_family();
std::unique_ptr<Family> make_bulk_family();
std::unique_ptr<Family> make_model_family();
std::unique_ptr<Family> make_twin_family();
std::unique_ptr<Family> make_cpu_family();
std::unique_ptr<Family> make_recorded_family();
std::unique_ptr<Family> make_hypothesis_family();
std::unique_ptr<Family> make_plugin_family();

/// Adds every family above to a registry; each executable calls this explicitly.
void add_oracle_units(Registry& registry);

/// A registry with these families alone.
Registry oracle_registry();

}  // namespace mmafuzz
