#include "oracles/properties/properties.h"

#include <algorithm>

namespace mmafuzz {

const std::vector<const Property*>& all_properties() {
  static const std::unique_ptr<Property> owned[] = {
#define MMAFUZZ_PROPERTY(name) make_##name(),
#include "oracles/properties/properties.def.h"
#undef MMAFUZZ_PROPERTY
  };
  static const std::vector<const Property*> all = [] {
    std::vector<const Property*> list;
    for (const auto& property : owned) list.push_back(property.get());
    return list;
  }();
  return all;
}

const Property* find_property(std::string_view name) {
  for (const Property* property : all_properties())
    if (name == property->name()) return property;
  return nullptr;
}

int number_of(const Property& property) {
  const auto& all = all_properties();
  return static_cast<int>(std::find(all.begin(), all.end(), &property) - all.begin());
}

}  // namespace mmafuzz
