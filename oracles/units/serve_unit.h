// Any unit as a process: the conversation of docs/processes.md, from the other side.
#pragma once

#include <string>

#include "core/registry.h"

namespace mmafuzz {

/// Answers requests on standard input, on standard output, until the input ends. What the unit itself prints goes to
/// standard error. Returns the exit code: 0, or 2 after a request that is none.
int serve_unit(const Registry& registry, const std::string& unit);

}  // namespace mmafuzz
