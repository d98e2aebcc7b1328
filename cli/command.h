// What the subcommands share.
#pragma once

#include <string>

#include "core/unit_name.h"
#include "plan/arguments.h"
#include "plan/registry.h"
#include "plan/request.h"

namespace mmafuzz::cli {

/// Each adds its subcommand to the app; `status` receives the exit code when it ran.
#define MMAFUZZ_SUBCOMMAND(name) void add_##name(Arguments& app, int& status);
#include "cli/subcommands.def.h"
#undef MMAFUZZ_SUBCOMMAND

/// Runs what the call names, which leaves its exit code in `status`. What it throws becomes a message and an exit code.
int run_line(CommandLine& line, int argc, char** argv, const int& status);

/// --rows FILE: the names of its rows stand for units on this command. The commands that have it are in
/// docs/identify.md, "The answer".
void add_rows_option(Arguments& command);

}  // namespace mmafuzz::cli
