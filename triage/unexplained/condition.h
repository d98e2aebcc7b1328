// What sets a difference off, as a condition on the numbers of a case, learned from cases around one that differs.
#pragma once

#include <string>
#include <vector>

#include "triage/unexplained/surroundings.h"

namespace mmafuzz {

/// `learned`, `others`: two walks around the same case, with `seen`. Each part of the condition holds for all cases of
/// the first walk that differ, and leaves out some that agree. For people: "where the exponent field of a3 is 0x55 and
/// ..." with how many cases of the second walk meet it; "wherever it can be seen" where hardly any case agrees; empty
/// where nothing tells the two kinds apart.
std::string condition_of(const Unit& claimed, const Surroundings& learned, const Surroundings& others);

}  // namespace mmafuzz
