#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "core/unit_name.h"
#include "core/text.h"
#include "fuzz_targets/target.h"

namespace mmafuzz {
namespace {

constexpr char help[] =
    "  -h,--help                                 print this and exit\n"
    "  --ops=LINE[;LINE...]  MMAFUZZ_OPS         ops, as op lines without `op` (default: the target's own)\n"
    "  --units=A,B           MMAFUZZ_UNITS       units, names or patterns (default: all with their own arithmetic)\n"
    "  --segment=FILE        MMAFUZZ_SEGMENT     append divergences that do not stop the search to this file\n"
    "  --status=FILE         MMAFUZZ_STATUS      rewrite this file about every second with the counts so far\n"
    "  --keep-going          MMAFUZZ_KEEP_GOING  contract divergences are recorded and do not stop the search\n";

/// Prints the help of the program TARGET_replay, TARGET_libfuzzer or TARGET_afl.
void print_help(const std::string& program) {
  const std::string name = std::filesystem::path(program).filename().string();
  const std::string target = name.substr(0, name.rfind('_'));
  const bool replays = name == target + "_replay";
  if (replays) std::printf("Run cases, and inputs that an engine kept, through the target %s\n", target.c_str());
  else
    std::printf("Search with the target %s; the engine has options of its own (libFuzzer: -help=1)\n", target.c_str());
  std::printf("Usage: %s [OPTIONS] %s\n\nOptions, or variables of the environment:\n%s", program.c_str(),
              replays ? "FILES OR FOLDERS" : "[the engine's arguments]", help);
  if (replays)
    std::printf(
        "  --encode=FOLDER                           write the cases as inputs to this folder, run nothing\n"
        "  --decode                                  print inputs as cases, run nothing\n");
  std::printf("\nExample: %s%s corpus/%s\n", program.c_str(), replays ? "" : " -runs=1000", target.c_str());
}

/// Throws where the path is a folder or its folder is missing, because a running search ignores failures to write.
void must_be_writable(const char* option, const std::string& path) {
  if (path.empty()) return;
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(path).parent_path();
  if (fs::is_directory(path)) throw std::runtime_error(std::string(option) + path + ": a folder, expected a file");
  if (!folder.empty() && !fs::is_directory(folder))
    throw std::runtime_error(std::string(option) + path + ": there is no folder " + folder.string());
}

}  // namespace

TargetOptions TargetOptions::parse(int argc, const char* const* argv) {
  TargetOptions options;
  const auto take = [&](std::string_view name, std::string_view value) {
    if (name == "ops") options.ops = words_of(value, ';');
    else if (name == "units") options.units = split_units({std::string(value)});
    else if (name == "segment") options.segment = value;
    else if (name == "status") options.status = value;
    else if (name == "keep-going") options.keep_going = value != "0";
    else return false;
    return true;
  };
  for (const auto& [variable, name] : {std::pair{"MMAFUZZ_OPS", "ops"},
                                       {"MMAFUZZ_UNITS", "units"},
                                       {"MMAFUZZ_SEGMENT", "segment"},
                                       {"MMAFUZZ_STATUS", "status"},
                                       {"MMAFUZZ_KEEP_GOING", "keep-going"}})
    if (const char* value = std::getenv(variable)) take(name, value);
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (!argument.starts_with("--") || argument == "--") continue;
    argument.remove_prefix(2);
    if (argument == "help") {
      print_help(argv[0]);
      std::exit(0);
    }
    const size_t equals = argument.find('=');
    const std::string_view value = equals == std::string_view::npos ? std::string_view() : argument.substr(equals + 1);
    if (!take(argument.substr(0, equals), value))
      throw std::runtime_error("unknown option --" + std::string(argument) +
                               "; known: --ops= --units= --segment= --status= --keep-going");
  }
  must_be_writable("--segment=", options.segment);
  must_be_writable("--status=", options.status);
  return options;
}

}  // namespace mmafuzz
