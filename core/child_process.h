// A program that this one talks with: started, spoken to with deadlines, and ended if it does not behave.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mmafuzz {

using Deadline = std::chrono::steady_clock::time_point;

/// Moves all bytes or throws std::runtime_error: the other end is gone, or the deadline has passed.
void send_all(int socket, const void* data, size_t bytes, Deadline deadline);
void receive_all(int socket, void* data, size_t bytes, Deadline deadline);

/// Sends all of `text`, and meanwhile appends to `received` what the other end says, until all is sent and `complete`
/// holds. Throws like the two above. Neither end can block the other for good: both directions move at once.
void talk(int socket, std::string_view text, std::string& received, const std::function<bool()>& complete,
          Deadline deadline);

/// A child process at the other end of a socket. It has a process group of its own, so that what it starts ends with
/// it; when this process ends, however that happens, the child is killed.
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

  /// Starts a command: a program, found as a shell finds it, and its arguments. Throws std::runtime_error with the
  /// reason if it cannot be executed.
  void start(const std::vector<std::string>& command, Output output);
  bool is_running() const { return pid_ >= 0; }
  int socket() const { return socket_; }

  enum class Why {
    finished,     ///< it is told first, by its closed input
    gone,         ///< it closed the connection: how it ended by itself says more than a kill
    not_behaving  ///< it is killed at once
  };
  /// Closes the socket and reaps the child, by force if need be. Returns how it ended; "" if there was none.
  std::string end(Why why = Why::gone);

 private:
  pid_t pid_ = -1;
  int socket_ = -1;
};

/// The `mmafuzz` command that belongs to this executable: itself, or a file beside or above it.
std::string own_command();

}  // namespace mmafuzz
