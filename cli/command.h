// What the subcommands share.
#pragma once

#include <nlohmann/json.hpp>

#include "core/unit_name.h"
#include "plan/arguments.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "triage/facts/knowledge.h"

namespace mmafuzz::cli {

/// Each adds its subcommand to the app; `status`, which must outlive the app, gets the exit code of the subcommand.
#define MMAFUZZ_SUBCOMMAND(name) void add_##name(Arguments& app, int& status);
#include "cli/subcommands.def.h"
#undef MMAFUZZ_SUBCOMMAND

inline constexpr size_t block_cases = 4096;  ///< cases that are read from a file at a time

/// Runs the subcommand that the command line names and returns the exit code: `status`, which the subcommand sets, or,
/// where something is thrown, the code for it (plan/request.h), after a message on standard error.
int run_line(CommandLine& line, int argc, char** argv, const int& status);

/// Adds the option --rows FILE: the command takes the names of the file's rows for units (plan/named_rows.h). The
/// commands that have it are in docs/identify.md, "The answer".
void add_rows_option(Arguments& command);
/// Adds the option --knowledge FOLDER, whose default `folder` becomes.
Argument* add_knowledge_option(Arguments& command, std::string& folder,
                               const std::string& help = "folder of known facts");
/// The known facts of a folder. Where there is none, a message on standard error says that every fact is new.
Knowledge known_facts(const std::string& folder);
/// Prints an object of --json, with the version of its keys.
void print_object(nlohmann::json object);

}  // namespace mmafuzz::cli
