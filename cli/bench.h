// The subcommands of mmafuzz bench, one file each.
#pragma once

#include "cli/command.h"

namespace mmafuzz::cli {

/// Each adds its subcommand to `bench`; `status` receives the exit code when it ran.
void add_bench_bounds(CLI::App& bench, int& status);
void add_bench_exhaustive(CLI::App& bench, int& status);
void add_bench_mutants(CLI::App& bench, int& status);
void add_bench_rate(CLI::App& bench, int& status);
void add_bench_triage(CLI::App& bench, int& status);

}  // namespace mmafuzz::cli
