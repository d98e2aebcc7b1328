// The subcommands of mmafuzz bench, one file each.
#pragma once

#include "core/unit_name.h"
#include "plan/arguments.h"
#include "plan/registry.h"
#include "plan/request.h"

namespace mmafuzz {

/// Each adds its subcommand to `bench`; `status` receives the exit code when it ran.
#define MMAFUZZ_BENCH(name) void add_bench_##name(Arguments& bench, int& status);
#include "bench/benches.def.h"
#undef MMAFUZZ_BENCH

/// Adds `mmafuzz bench` with all of its subcommands.
void add_bench(Arguments& app, int& status);

}  // namespace mmafuzz
