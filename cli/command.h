// What the subcommands share: exit codes, errors, the registry, op texts from the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>

#include "core/registry.h"

namespace mmafuzz::cli {

inline constexpr int exit_ok = 0;
inline constexpr int exit_divergence = 1;
inline constexpr int exit_bad_input = 2;
inline constexpr int exit_contradiction = 3;

inline constexpr char tool_version[] = "0.1.0";

/// A wrong call or input; main prints it on one line and exits with 2.
struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The registry with every family this executable knows.
const Registry& registry();

/// Parses an op given on the command line, with or without the leading "op ". Throws BadInput.
Op op_from_text(const std::string& text);

/// Binds or throws BadInput with the refusal's reason.
std::unique_ptr<Unit> bind_or_fail(const std::string& name, const Op& op);

/// Unit names from arguments that may hold several, comma-separated; the commas between the overrides of one unit stay:
/// "a,b?x=1,y=2" is a and b?x=1,y=2.
std::vector<std::string> split_units(const std::vector<std::string>& arguments);

/// A check for CLI options that are unsigned: CLI11 alone reads -1 as 2^64 - 1.
CLI::Validator unsigned_number();

/// Each adds its subcommand to the app; `status` receives the exit code when it ran.
void add_list(CLI::App& app, int& status);
void add_eval(CLI::App& app, int& status);
void add_check(CLI::App& app, int& status);
void add_explain(CLI::App& app, int& status);
void add_fuzz(CLI::App& app, int& status);
void add_report(CLI::App& app, int& status);
void add_campaign(CLI::App& app, int& status);
void add_campaign_worker(CLI::App& app, int& status);  ///< hidden: one worker process of a campaign
void add_minimize(CLI::App& app, int& status);
void add_triage(CLI::App& app, int& status);
void add_findings(CLI::App& app, int& status);
void add_merge(CLI::App& app, int& status);
void add_promote(CLI::App& app, int& status);
void add_sweep(CLI::App& app, int& status);
void add_record(CLI::App& app, int& status);
void add_survey(CLI::App& app, int& status);
void add_device_child(CLI::App& app, int& status);  ///< hidden: the process that holds the GPU
void add_bench(CLI::App& app, int& status);
void add_bench_discriminate(CLI::App& bench, int& status);

}  // namespace mmafuzz::cli
