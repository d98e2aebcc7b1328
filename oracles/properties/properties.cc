#include "oracles/properties/properties.h"

namespace mmafuzz {

const std::vector<std::unique_ptr<Property>>& all_properties() {
  static const std::vector<std::unique_ptr<Property>> all = [] {
    std::vector<std::unique_ptr<Property>> list;
    for (const auto make : {make_block_permutation, make_monotone_in_addend, make_monotone_in_c, make_power_of_two_scaling, make_product_value,
                            make_product_value_and_exponent, make_sign_symmetry, make_split_k, make_swap_operands, make_zero_padding,
                            make_error_bound})
      list.push_back(make());
    for (const auto make : {make_faithful, make_half_ulp, make_idempotent, make_monotone_in_operand, make_nearest, make_not_above_up, make_not_below_down,
                            make_round_trip, make_survives_detour})
      list.push_back(make());
    for (const auto make : {make_correctly_rounded, make_exact_slices, make_gemm_error_bound, make_gemm_specials, make_inner_permutation, make_tile_permutation})
      list.push_back(make());
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
