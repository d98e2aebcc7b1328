// The mmafuzz command.
#include <dlfcn.h>
#include <fmt/core.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "bench/bench.h"
#include "campaign/interrupt.h"
#include "cli/command.h"
#include "core/program.h"
#include "cli/version_screen.h"

namespace {

pid_t unfinished = 0;  ///< this process, until main returns

/// A message with at most 200 characters in a row of an argument.
std::string shortened(const std::string& message, int argc, char** argv) {
  constexpr size_t most = 200;
  std::string shown;
  for (size_t at = 0; at < message.size();) {
    const std::string_view rest = std::string_view(message).substr(at);
    size_t repeated = 0;
    for (int i = 1; i < argc && rest.size() > most; ++i) {
      const std::string_view argument = argv[i];
      const size_t found = argument.find(rest.substr(0, most + 1));
      if (found == argument.npos) continue;
      const std::string_view same = argument.substr(found);
      const auto [end, of_argument] = std::mismatch(rest.begin(), rest.end(), same.begin(), same.end());
      repeated = std::max(repeated, static_cast<size_t>(end - rest.begin()));
    }
    shown += repeated ? std::string(rest.substr(0, most)) + "..." : std::string(1, rest[0]);
    at += std::max<size_t>(1, repeated);
  }
  return shown;
}

}  // namespace

// These stand before those of libc: a plugin that runs in this process (?isolated=0) and ends it must not look like
// success. Code of ours ends at once by quick_exit. An atexit handler would not do: it runs in one of several threads.
extern "C" void _exit(int code) {
  static std::atomic_flag ending;
  if (unfinished == getpid()) {             // not in a fork
    while (ending.test_and_set()) pause();  // another thread says it
    std::fprintf(stderr, "mmafuzz: a unit ended this process: run it without ?isolated=0\n");
    code = mmafuzz::exit_bad_input;
  }
  for (;;) syscall(SYS_exit_group, code);
}
extern "C" void _Exit(int code) noexcept { _exit(code); }
extern "C" void exit(int code) noexcept {
  if (unfinished == getpid()) _exit(code);
  reinterpret_cast<void (*)(int)>(dlsym(RTLD_NEXT, "exit"))(code);
  std::abort();  // it does not come back
}

int main(int argc, char** argv) {
  using namespace mmafuzz;
  using namespace mmafuzz::cli;
  CommandLine line(
      "mmafuzz: differential fuzzing of matrix units against exact, IEEE 754 and bit-accurate models", version_screen,
      "Exit codes: 0 nothing to fail on, 1 a contract divergence or a mismatch, 2 the call or an input was wrong,\n"
      "3 mmafuzz contradicts itself, 4 unknown (prove, identify), 130 a signal ended it.");
  Arguments& app = line.arguments();
  if (argc < 2 || std::string_view(argv[1]) != "serve") unfinished = getpid();  // who asked a served unit sees its end
  struct End {
    ~End() { unfinished = 0; }
  } end_of_main;
  std::signal(SIGXFSZ, SIG_IGN);  // beyond `ulimit -f` a write fails, and that ends with a message
  int status = exit_ok;
  set_program_name(argv[0]);
#define MMAFUZZ_SUBCOMMAND(name) add_##name(app, status);
#include "cli/subcommands.def.h"
#undef MMAFUZZ_SUBCOMMAND
  add_bench(app, status);
  const auto end = [&](int code, const std::string& message) {
    std::fflush(stdout);
    fmt::print(stderr, "mmafuzz: {}\n", shortened(message, argc, argv));
    return code;
  };
  try {
    if (!line.parse(argc, argv)) return exit_ok;
  } catch (const std::logic_error& e) {  // a Contradiction, or an invariant that broke
    return end(exit_contradiction,
               "CONTRADICTION, no result of this run is to be trusted; please report it: " + std::string(e.what()));
  } catch (const Interrupted& e) {
    return end(exit_interrupted, e.what());
  } catch (const std::filesystem::filesystem_error& e) {
    std::string files;
    for (const std::filesystem::path& path : {e.path1(), e.path2()})
      if (!path.empty()) files += path.string() + ": ";
    return end(exit_bad_input, files + e.code().message());
  } catch (const std::exception& e) {
    return end(exit_bad_input, e.what());
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    fmt::print(stderr, "mmafuzz: standard output: {}\n", std::strerror(errno));
    return exit_bad_input;
  }
  return status;
}
