// compute-sanitizer over one small epoch of a sweep, where the tool exists.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "core/child_process.h"
#include "core/text.h"
#include "survey/survey.h"

namespace mmafuzz::survey {
namespace {

/// The tool's file in PATH or in the toolkit; empty where there is none.
std::string sanitizer() {
  if (const std::string file = find_in_path("compute-sanitizer"); !file.empty()) return file;
  const std::string in_toolkit = "/usr/local/cuda/bin/compute-sanitizer";
  return access(in_toolkit.c_str(), X_OK) == 0 ? in_toolkit : "";
}

/// Runs a command with its output in a file. Returns its exit code, 128 plus the signal that ended it, or -1 where it
/// was ended at the deadline.
int run_until(std::vector<std::string> command, const std::string& output, Clock::time_point deadline) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    const int file = open(output.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
    dup2(file, 1);
    dup2(file, 2);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  if (pid < 0) throw std::runtime_error("fork failed");
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (Clock::now() > deadline) {
      kill(-pid, SIGKILL);
      kill(pid, SIGKILL);  // where the child has no process group yet
      waitpid(pid, &status, 0);
      return -1;
    }
    usleep(20000);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::vector<Step> sanitizer_steps(Context& context) {
  const std::string tool = sanitizer();
  std::vector<Step> steps;
  for (const Instruction* i : context.instructions) {
    // One unit of each family of kernels is enough: their kernels are instances of one template.
    const std::string unit = "cuda:" + i->name, family = unit.substr(0, unit.find(".m"));
    const bool known = std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
      return step.unit.substr(0, step.unit.find(".m")) == family;
    });
    if (known || claimed_model(*i, context.arch).empty()) continue;
    const auto work = [&context, unit, tool](Json& result, Clock::time_point deadline) {
      if (tool.empty()) {
        result["why"] = "no compute-sanitizer in the path or in /usr/local/cuda/bin";
        result["status"] = "declined";
        return;
      }
      const std::string output =
          context.book.folder() + "/sanitizer-" + std::to_string(context.book.steps().size()) + ".txt";
      const int code = run_until({tool, "--target-processes", "all", "--error-exitcode", "99", context.options.program,
                                  "sweep", "--unit", unit, "--seed", "1", "--cases", "4096"},
                                 output, deadline);
      result["output"] = output;
      if (code == 99) context.book.note_finding("failed", "compute-sanitizer", unit, "errors, see " + output);
      result["why"] = code == -1 ? "ended at its limit" : "exit code " + std::to_string(code);
    };
    steps.push_back({"compute-sanitizer", "tool", unit, context.scaled(20), work});
  }
  return steps;
}

}  // namespace mmafuzz::survey
