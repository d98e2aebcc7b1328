// Why two ways to add a dot product differ on a case: both are taken apart into decisions that a reader can check
// (triage/way_to_add.h), and those of one are replaced by those of the other until it gives the other's result.
#pragma once

#include <string>

#include "triage/judge.h"

namespace mmafuzz {

/// What stands before them in the detail of a bucket.
inline constexpr char on_this_case[] = "on its witness, what matters from ";

/// "fused_sum to two_stage_sum": how two units add, in a word each.
std::string arithmetics_of(const Judge& judge, const Registry& registry);

/// "additions rounded once against in pairs; c added with the products against last": the smallest set of steps that
/// makes the first unit's arithmetic give the second's result on case 0. Empty where a unit is not made of such steps,
/// or its steps do not give its result.
std::string steps_that_matter(const Judge& judge, const Batch& one, const Registry& registry);

}  // namespace mmafuzz
