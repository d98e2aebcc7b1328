// Child processes of a campaign: started with bounds, watched, ended. A child never outlives its campaign, however that
// ends.
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
  std::string log;                                               ///< standard output and error go here; rewritten
  uint64_t memory_bytes = 0;  ///< bound of the address space; 0: none (sanitizers and engines have bounds of their own)
};

/// How a child ended.
struct ProcessEnd {
  bool signaled = false;
  int code = 0;  ///< exit status, or the signal's number
  /// "exit code 77" or "signal 11 (Segmentation fault)".
  std::string to_string() const;
};

class Process {
 public:
  /// Starts the command in its own process group, so that Ctrl-C on a terminal reaches the parent alone. Throws
  /// std::runtime_error if no process can be made; a command that cannot be executed ends with code 127 and says why in
  /// the log.
  explicit Process(const ProcessSpec& spec);
  ~Process();  ///< kills what still runs
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;

  pid_t pid() const { return pid_; }
  /// How it ended, once it has; does not wait.
  std::optional<ProcessEnd> poll();
  /// Signals the child's process group.
  void signal(int number) const;

 private:
  pid_t pid_ = -1;
};

}  // namespace mmafuzz
