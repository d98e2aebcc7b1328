// The properties that relate one unit's results to each other. A new property adds its maker here and to properties.cc.
#pragma once

#include <memory>

#include "core/property.h"

namespace mmafuzz {

std::unique_ptr<Property> make_block_permutation();
std::unique_ptr<Property> make_error_bound();
std::unique_ptr<Property> make_monotone_in_addend();
std::unique_ptr<Property> make_monotone_in_c();
std::unique_ptr<Property> make_power_of_two_scaling();
std::unique_ptr<Property> make_product_value();
std::unique_ptr<Property> make_product_value_and_exponent();
std::unique_ptr<Property> make_sign_symmetry();
std::unique_ptr<Property> make_split_k();
std::unique_ptr<Property> make_swap_operands();
std::unique_ptr<Property> make_zero_padding();
// Of conversions and scalar operations.
std::unique_ptr<Property> make_faithful();
std::unique_ptr<Property> make_half_ulp();
std::unique_ptr<Property> make_idempotent();
std::unique_ptr<Property> make_monotone_in_operand();
std::unique_ptr<Property> make_nearest();
std::unique_ptr<Property> make_not_above_up();
std::unique_ptr<Property> make_not_below_down();
std::unique_ptr<Property> make_round_trip();
std::unique_ptr<Property> make_survives_detour();
// Of matrix products.
std::unique_ptr<Property> make_correctly_rounded();
std::unique_ptr<Property> make_exact_slices();
std::unique_ptr<Property> make_gemm_error_bound();
std::unique_ptr<Property> make_gemm_specials();
std::unique_ptr<Property> make_inner_permutation();
std::unique_ptr<Property> make_tile_permutation();

/// All of them, in a fixed order.
const std::vector<std::unique_ptr<Property>>& all_properties();

/// nullptr if there is none of that name.
const Property* find_property(std::string_view name);

}  // namespace mmafuzz
