// Any unit as a process: the conversation of docs/processes.md, from the other side.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/registry.h"

namespace mmafuzz {

/// Answers requests on standard input, on standard output, until the input ends. What the unit itself prints goes to
/// standard error. `bind` has the unit of an op. Returns the exit code: 0, or 2 after a request that is none.
int serve_unit(const std::string& name, const std::function<Result<std::unique_ptr<Unit>>(const Op&)>& bind);

}  // namespace mmafuzz
