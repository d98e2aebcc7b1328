// The properties that relate one unit's results to each other (properties.def.h is the list).
#pragma once

#include <memory>

#include "core/property.h"

namespace mmafuzz {

#define MMAFUZZ_PROPERTY(name) std::unique_ptr<Property> make_##name();
#include "oracles/properties/properties.def.h"
#undef MMAFUZZ_PROPERTY

/// All of them, in the order of properties.def.h.
const std::vector<const Property*>& all_properties();

/// The claims of a quantizer that computes the scale by the op's rule and rounds each element once.
std::vector<Claim> claims_of_quantizing(const Op& op);

/// nullptr if there is none of that name.
const Property* find_property(std::string_view name);

/// The index of a property in all_properties(), from 0.
int number_of(const Property& property);

}  // namespace mmafuzz
