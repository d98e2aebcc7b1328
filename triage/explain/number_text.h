// Numbers as people read them: bits, hexadecimal floating point, decimals.
#pragma once

#include "arithmetic/host_device.h"
#include "core/format.h"
#include "triage/explain/explanation.h"

namespace mmafuzz {

/// The last `digits` bits of a value, most significant first; bits beyond 64 are 0.
std::string bits_text(uint64_t value, int digits);

ExplainedNumber explained_number(const Format& format, uint64_t encoding);

/// multiple * 2^unit in hexadecimal floating point, exact for |multiple| < 2^53 in the range of fp64.
std::string binary_text(int64_t multiple, int unit);

/// Names of IEEE 754 flags: "inexact, underflow"; "none" for 0.
std::string flags_text(uint8_t flags);

}  // namespace mmafuzz
