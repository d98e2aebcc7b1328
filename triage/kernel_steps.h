// Why two ways to add a dot product differ on a case: each is described by decisions that a reader can check
// (triage/way_to_add.h). Decisions of the first are replaced by those of the second until the results agree.
#pragma once

#include <string>

#include "triage/judge.h"

namespace mmafuzz {

/// The words before arithmetics_of() and steps_that_matter() in the detail of a bucket.
inline constexpr char on_this_case[] = "on its witness, what matters from ";

/// "fused_sum to two_stage_sum": arithmetic_of() of each of the judge's units.
std::string arithmetics_of(const Judge& judge, const Registry& registry);

/// "additions rounded once against in pairs; c added with the products against last": the smallest set of steps that
/// makes the first unit's arithmetic give the second's result on case 0. Empty where a unit is not made of such steps,
/// its steps do not give its result, the case is not finite, or the op is not a floating-point dot.
std::string steps_that_matter(const Judge& judge, const Batch& single, const Registry& registry);

}  // namespace mmafuzz
