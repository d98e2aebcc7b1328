// The mmafuzz command.
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "bench/bench.h"
#include "campaign/interrupt.h"
#include "cli/command.h"
#include "core/program.h"
#include "cli/version_screen.h"

int main(int argc, char** argv) {
  using namespace mmafuzz;
  using namespace mmafuzz::cli;
  CommandLine line(
      "mmafuzz: differential fuzzing of matrix units against exact, IEEE 754 and bit-accurate models", version_screen,
      "Exit codes: 0 nothing to fail on, 1 a contract divergence or a mismatch, 2 the call or an input was wrong,\n"
      "3 mmafuzz contradicts itself, 130 a signal ended it.");
  Arguments& app = line.arguments();
  // A plugin that calls exit() must not look like success.
  static bool ended_by_itself = false;
  std::atexit([] {
    if (ended_by_itself) return;
    std::fprintf(stderr, "mmafuzz: a unit ended this process: run it as plugin:FILE?isolated=1\n");
    std::_Exit(exit_bad_input);
  });
  struct End {
    ~End() { ended_by_itself = true; }
  } end;
  int status = exit_ok;
  set_program_name(argv[0]);
#define MMAFUZZ_SUBCOMMAND(name) add_##name(app, status);
#include "cli/subcommands.def.h"
#undef MMAFUZZ_SUBCOMMAND
  add_bench(app, status);
  try {
    if (!line.parse(argc, argv)) return exit_ok;
  } catch (const std::logic_error& e) {  // a Contradiction, or an invariant that broke
    std::fflush(stdout);
    fmt::print(stderr, "mmafuzz: CONTRADICTION, no result of this run is to be trusted; please report it: {}\n",
               e.what());
    return exit_contradiction;
  } catch (const Interrupted& e) {
    std::fflush(stdout);
    fmt::print(stderr, "mmafuzz: {}\n", e.what());
    return exit_interrupted;
  } catch (const std::filesystem::filesystem_error& e) {
    std::fflush(stdout);
    std::string files;
    for (const std::filesystem::path& path : {e.path1(), e.path2()})
      if (!path.empty()) files += path.string() + ": ";
    fmt::print(stderr, "mmafuzz: {}{}\n", files, e.code().message());
    return exit_bad_input;
  } catch (const std::exception& e) {
    std::fflush(stdout);
    fmt::print(stderr, "mmafuzz: {}\n", e.what());
    return exit_bad_input;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    fmt::print(stderr, "mmafuzz: standard output: {}\n", std::strerror(errno));
    return exit_bad_input;
  }
  return status;
}
