// A call of the program, from its words to its exit code.
#pragma once

#include "plan/arguments.h"

namespace mmafuzz::cli {

/// Runs what the call names, which leaves its exit code in `status`. What it throws becomes a message and an exit code.
int run_line(CommandLine& line, int argc, char** argv, const int& status);

}  // namespace mmafuzz::cli
