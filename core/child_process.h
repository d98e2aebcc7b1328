// A child program to talk with: started, sent to and read from with deadlines, and killed if it does not end.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mmafuzz {

using Deadline = std::chrono::steady_clock::time_point;

/// Sends all bytes. Throws std::runtime_error where the other end is gone or the deadline passes first.
void send_all(int socket, const void* data, size_t bytes, Deadline deadline);
/// Receives exactly `bytes` bytes. Throws as send_all() does.
void receive_all(int socket, void* data, size_t bytes, Deadline deadline);

/// Sends `text` and meanwhile appends to `received` what the other end sends, until all is sent and complete() returns
/// true. Throws as send_all() does. As both directions move at once, neither end can block the other for good.
void talk(int socket, std::string_view text, std::string& received, const std::function<bool()>& complete,
          Deadline deadline);

/// A child process at the other end of a socket. The child has a process group of its own, so that what the child
/// starts ends with it. When this process ends, however that happens, the child is killed.
class ChildProcess {
 public:
  enum class Output {
    socket,  ///< standard input and output are the socket
    error,   ///< standard input is the socket; what is printed goes to standard error
  };
  ChildProcess() = default;
  ~ChildProcess() { end(Why::finished); }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Starts a command: a program, which is looked up in PATH, and its arguments. Throws std::runtime_error with the
  /// reason where it cannot be executed.
  void start(const std::vector<std::string>& command, Output output);
  bool is_running() const { return pid_ >= 0; }
  int socket() const { return socket_; }  ///< this end of the connection; -1 where no child runs

  /// Why the child is to end. The first two give the child 0.1 seconds to end by itself before it is killed.
  enum class Why {
    finished,     ///< its work is done: the socket is closed first, which the child sees as the end of its input
    gone,         ///< the child closed the connection: how it ended by itself says more than a kill
    not_behaving  ///< the child is killed at once
  };
  /// Ends and reaps the child, and closes the socket. Returns how the child ended; "" if there was none.
  std::string end(Why why = Why::gone);

 private:
  pid_t pid_ = -1;
  int socket_ = -1;
};

/// This executable's path; empty where there is no /proc.
std::string own_executable();

/// The path of the `mmafuzz` command that belongs to this executable: itself, or a file beside or above it; "mmafuzz",
/// which PATH resolves, where there is none.
std::string own_command();

/// The path of an executable file in the first folder of PATH that has it; "" where none does.
std::string find_in_path(const std::string& program);

}  // namespace mmafuzz
