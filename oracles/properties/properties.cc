#include "oracles/properties/properties.h"

namespace mmafuzz {

const std::vector<std::unique_ptr<Property>>& all_properties() {
  static const std::vector<std::unique_ptr<Property>> all = [] {
    std::vector<std::unique_ptr<Property>> list;
    list.push_back(make_block_permutation());
    list.push_back(make_monotone_in_c());
    list.push_back(make_sign_symmetry());
    list.push_back(make_swap_operands());
    return list;
  }();
  return all;
}

const Property* find_property(std::string_view name) {
  for (const auto& property : all_properties())
    if (name == property->name()) return property.get();
  return nullptr;
}

}  // namespace mmafuzz
