// The module of the page: a call of mmafuzz with a few of its subcommands. main may be called again and again.
#include "cli/command.h"
#include "core/program.h"
#include "core/text.h"
#include "plan/version.h"

namespace mmafuzz {
const char* build_commit() { return ""; }
}  // namespace mmafuzz

/// Linux's, for units that are processes: a page has none.
extern "C" int prctl(int, ...) { return -1; }

int main(int argc, char** argv) {
  using namespace mmafuzz;
  using namespace mmafuzz::cli;
  CommandLine line("mmafuzz in a page", version_text, "");
  int status = 0;
  program_name() = shell_word(argv[0]);
#define MMAFUZZ_SUBCOMMAND(name) add_##name(line.arguments(), status);
#include "site/subcommands.def.h"
#undef MMAFUZZ_SUBCOMMAND
  return run_line(line, argc, argv, status);
}
