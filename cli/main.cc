// The mmafuzz command.
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "bench/bench.h"
#include "cli/command.h"

int main(int argc, char** argv) {
  using namespace mmafuzz;
  using namespace mmafuzz::cli;
  CLI::App app{"mmafuzz: differential fuzzing of matrix units against exact, IEEE 754 and bit-accurate models"};
  app.set_version_flag("--version", "mmafuzz " MMAFUZZ_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 nothing to fail on, 1 a contract divergence or a mismatch, 2 the call or an input was wrong,\n"
      "3 the product contradicts itself.");
  int status = exit_ok;
#define MMAFUZZ_SUBCOMMAND(name) add_##name(app, status);
#include "cli/subcommands.def.h"
#undef MMAFUZZ_SUBCOMMAND
  add_bench(app, status);
  try {
    if (argc > 1 && argv[1][0] != '-') {
      std::string known;
      bool found = false;
      for (const CLI::App* sub : app.get_subcommands({})) {
        if (!sub->get_group().empty()) known += " " + sub->get_name();
        found = found || sub->get_name() == argv[1];
      }
      if (!found) throw BadInput(std::string("unknown subcommand '") + argv[1] + "'; known:" + known);
    }
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    fmt::print(stderr, "mmafuzz: {}; see mmafuzz --help\n", e.what());
    return exit_bad_input;
  } catch (const std::logic_error& e) {  // a Contradiction, or an invariant that broke
    std::fflush(stdout);
    fmt::print(stderr, "mmafuzz: CONTRADICTION, no result of this run is to be trusted; please report it: {}\n",
               e.what());
    return exit_contradiction;
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
