#include "campaign/process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace mmafuzz {
namespace {

/// Executes the command in the child. Only async-signal-safe calls until exec: the caller made what needs allocation.
[[noreturn]] void execute(pid_t parent, int log, uint64_t memory, char* const* command, char* const* environment) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);  // the parent was killed before the line above
#ifdef __SANITIZE_ADDRESS__
  memory = 0;  // AddressSanitizer reserves more addresses than any limit allows
#endif
  if (memory) {
    const rlimit limit = {memory, memory};
    setrlimit(RLIMIT_AS, &limit);
  }
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  sigset_t none;  // a running campaign blocks some signals, and exec keeps that
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvpe(command[0], command, environment);
  dprintf(STDERR_FILENO, "cannot run %s: %s\n", command[0], std::strerror(errno));
  _exit(ProcessEnd::not_executable);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& additions) {
  std::vector<std::string> lines;
  for (char** entry = environ; *entry; ++entry) {
    const std::string line = *entry;
    bool is_replaced = false;
    for (const auto& [name, value] : additions) is_replaced |= line.starts_with(name + "=");
    if (!is_replaced) lines.push_back(line);
  }
  for (const auto& [name, value] : additions) lines.push_back(name + "=" + value);
  return lines;
}

}  // namespace

std::string ProcessEnd::to_string() const {
  return was_signaled ? fmt::format("signal {} ({})", code, strsignal(code)) : fmt::format("exit code {}", code);
}

Process::Process(const ProcessSpec& spec) {
  const std::vector<std::string> lines = environment_with(spec.environment);
  const std::vector<char*> command = pointers(spec.command), environment = pointers(lines);
  const int log = open(spec.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (log < 0) throw std::runtime_error("cannot write " + spec.log + ": " + std::strerror(errno));
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) execute(parent, log, spec.memory_bytes, command.data(), environment.data());
  const int error = errno;
  close(log);
  if (pid_ < 0) throw std::runtime_error(std::string("cannot start a worker: ") + std::strerror(error));
  setpgid(pid_, pid_);  // in the parent, too: the child may not have reached its own call when it is signaled
}

Process::Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}

Process::~Process() {
  if (pid_ < 0) return;
  signal(SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
}

std::optional<ProcessEnd> Process::poll() {
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) == 0) return std::nullopt;
  signal(SIGKILL);  // ends what the child itself started
  pid_ = -1;
  return WIFSIGNALED(status) ? ProcessEnd{true, WTERMSIG(status)} : ProcessEnd{false, WEXITSTATUS(status)};
}

void Process::signal(int number) const {
  if (pid_ > 0) kill(-pid_, number);
}

}  // namespace mmafuzz
