// Any unit as a process: the process's side of the protocol of docs/processes.md (process_child.h is the other side).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/registry.h"

namespace mmafuzz {

/// Reads requests from standard input and answers on standard output until the input ends. What the unit itself prints
/// goes to standard error. `name` is what the process says it is called; `bind` returns the unit for an op. Returns the
/// exit code: 0, or 2 after a line that is no request of the protocol.
int serve_unit(const std::string& name, const std::function<Result<std::unique_ptr<Unit>>(const Op&)>& bind);

}  // namespace mmafuzz
