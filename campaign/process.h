// Child processes of a campaign: started with limits, watched, ended. No child outlives its campaign, even a killed
// one.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mmafuzz {

struct ProcessSpec {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;  ///< on top of this process's own
  std::string log;                                               ///< file for standard output and error; overwritten
  uint64_t memory_bytes = 0;  ///< limit of the address space; 0: none (sanitizers and engines have limits of their own)
};

/// How a child ended.
struct ProcessEnd {
  static constexpr int not_executable = 127;  ///< the exit status where the command cannot be executed, as of a shell

  bool was_signaled = false;
  int code = 0;  ///< exit status, or the signal's number
  /// "exit code 77" or "signal 11 (Segmentation fault)".
  std::string to_string() const;
};

class Process {
 public:
  /// Starts the command in its own process group, so that Ctrl-C on a terminal reaches the parent alone. Throws
  /// std::runtime_error if no process can be made; a command that cannot be executed ends with not_executable and says
  /// why in the log.
  explicit Process(const ProcessSpec& spec);
  ~Process();  ///< kills what still runs
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;

  pid_t pid() const { return pid_; }
  /// How the child ended, or nullopt while it runs; does not wait. Not to be called after an end.
  std::optional<ProcessEnd> poll();
  /// Signals the child's process group.
  void signal(int number) const;

 private:
  pid_t pid_ = -1;
};

}  // namespace mmafuzz
