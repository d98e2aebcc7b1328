// The mmafuzz command.
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "bench/bench.h"
#include "campaign/plan.h"
#include "cli/command.h"
#include "core/json_text.h"
#include "core/program.h"
#include "core/text.h"
#include "oracles/units/plugin_abi.h"
#include "plan/corpus_folder.h"
#include "plan/version.h"

namespace {

pid_t unfinished = 0;  ///< the id of this process until main returns, then 0; 0 also for `serve`

/// What --version prints, a line each: version and commit; the search engines that campaigns can run here, each with
/// the number of targets that are built for it (builds) and, where it lacks something, what that is (missing); the
/// versions of JSON output and of the plugin interface; the folder of the corpus.
std::string version_screen() {
  using namespace mmafuzz;
  std::string text = "mmafuzz " + version_text() + "\nengines:";
  for (const EngineHere& engine : engines_here()) {
    text +=
        fmt::format(" {} ({})", engine.name, engine.builds ? fmt::format("{} targets", engine.builds) : "no targets");
    if (!engine.missing.empty()) text += " " + engine.missing;
    text += ";";
  }
  text.back() = '\n';
  text += fmt::format("JSON: version {}; plugins: version {}\n", json_version, MMAFUZZ_PLUGIN_ABI);
  const std::string corpus = default_corpus_folder();
  return text + "corpus: " + (corpus.empty() ? "none beside this program" : corpus);
}

}  // namespace

// Three functions that replace those of libc: a plugin that ends this process (?isolated=0) must not look like success.
// mmafuzz itself calls quick_exit. An atexit handler would not do, because it runs in one of several threads.
extern "C" void _exit(int code) {
  static std::atomic_flag ending;
  if (unfinished == getpid()) {             // a forked child has another id
    while (ending.test_and_set()) pause();  // another thread prints the message and ends the process
    std::fprintf(stderr, "mmafuzz: a unit ended this process: run it without ?isolated=0\n");
    code = mmafuzz::exit_bad_input;
  }
  for (;;) syscall(SYS_exit_group, code);
}
extern "C" void _Exit(int code) noexcept { _exit(code); }
extern "C" void exit(int code) noexcept {
  if (unfinished == getpid()) _exit(code);
  reinterpret_cast<void (*)(int)>(dlsym(RTLD_NEXT, "exit"))(code);
  std::abort();  // not reached: libc's exit does not return
}

int main(int argc, char** argv) {
  using namespace mmafuzz;
  using namespace mmafuzz::cli;
  CommandLine line(
      "mmafuzz: differential fuzzing of matrix units against exact, IEEE 754 and bit-accurate models", version_screen,
      "Exit codes: 0 nothing to fail on, 1 a contract divergence or a mismatch, 2 the call or an input was wrong,\n"
      "3 mmafuzz contradicts itself, 4 unknown (prove, identify), 130 a signal ended it.");
  Arguments& app = line.arguments();
  if (argc < 2 || std::string_view(argv[1]) != "serve")
    unfinished = getpid();  // the client of `serve` sees how it ends
  struct End {
    ~End() { unfinished = 0; }
  } end_of_main;
  // A closed stream stays closed, on a descriptor that no file gets: what is meant for the stream would go to that
  // file.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) == -1) open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  std::signal(SIGXFSZ, SIG_IGN);  // beyond `ulimit -f` a write fails with a message, instead of this signal
  std::signal(SIGCHLD, SIG_DFL);  // where a parent made it ignored, every child would seem to end with exit code 0
  int status = exit_ok;
  program_name() = shell_word(argv[0]);
#define MMAFUZZ_SUBCOMMAND(name) add_##name(app, status);
#include "cli/subcommands.def.h"
#undef MMAFUZZ_SUBCOMMAND
  add_bench(app, status);
  return run_line(line, argc, argv, status);
}
