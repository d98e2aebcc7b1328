// The properties that relate one unit's results to each other (properties.def.h is the list).
#pragma once

#include <memory>

#include "core/property.h"

namespace mmafuzz {

#define MMAFUZZ_PROPERTY(name) std::unique_ptr<Property> make_##name();
#include "oracles/properties/properties.def.h"
#undef MMAFUZZ_PROPERTY

/// All of them, in a fixed order.
const std::vector<const Property*>& all_properties();

/// What a quantizer promises that follows the op's rule and rounds each element once.
std::vector<Claim> claims_of_quantizing(const Op& op);

/// nullptr if there is none of that name.
const Property* find_property(std::string_view name);

/// The place of a property in all_properties().
int number_of(const Property& property);

}  // namespace mmafuzz
