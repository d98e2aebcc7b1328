// What could make the difference between a unit without parameters and the model that it claims: a change of one
// operand, of the sum or of the result, under which the model gives what the unit gave. Each is tried on cases, none
// is guessed.
#pragma once

#include <string>
#include <vector>

#include "core/unit.h"
#include "triage/operands.h"

namespace mmafuzz {

/// For people: "as if a5*b5 were left out (12 of 12 cases near it that differ); it would show on none of 32 cases near
/// it that agree". `own`, `claimed`: what the unit and the model gave on the cases, which are
/// dots of `model`'s op with a single result. Says "no change of ..." where none fits most of the cases that differ.
std::string what_could_make_it(const Batch& cases, const Outcomes& own, const Unit& model, const Outcomes& claimed);

}  // namespace mmafuzz
