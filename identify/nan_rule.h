// What a unit's NaNs are, in a sentence: where they are not all the same encoding, no row has them.
#pragma once

#include <string>

#include "identify/evidence.h"
#include "identify/probes.h"

namespace mmafuzz {

/// Whether the answers hold two different NaNs.
bool nans_differ(const Evidence& evidence);

/// Dots with one NaN operand or two, of different payloads, in the first and last lanes and c.
Questions nan_questions(const Op& op);

/// "a NaN operand is passed on, c before a before b, and made quiet; any other NaN is 7fc00000"; where no such rule
/// gives all NaNs of the answers, these NaNs.
std::string nan_rule(const Evidence& evidence);

}  // namespace mmafuzz
