// Says in a sentence which NaNs a unit gives, where they differ and no row gives the same.
#pragma once

#include <string>

#include "identify/evidence.h"
#include "identify/probes.h"

namespace mmafuzz {

/// Whether two answers are different NaNs.
bool nans_differ(const Evidence& evidence);

/// Dots with one NaN operand or two, of different payloads, in the first and last lanes and c.
Questions nan_questions(const Op& op);

/// "a NaN operand is passed on, c before a before b, and made quiet; any other NaN is 7fc00000". Where no such rule
/// gives all NaNs of the answers: how many there are, and the first four.
std::string nan_rule(const Evidence& evidence);

}  // namespace mmafuzz
