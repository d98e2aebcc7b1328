#include "core/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "core/text.h"

namespace mmafuzz {
namespace {

/// Waits until poll() reports one of the events. Throws where the deadline passes first.
void wait_for(int socket, short events, Deadline deadline) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) throw std::runtime_error("gave no answer in time");
    pollfd p{socket, events, 0};
    const int n =
        poll(&p, 1, static_cast<int>(std::min<long long>(left, 1000)));  // its type is int: one second at most
    if (n > 0) return;
    if (n < 0 && errno != EINTR) throw std::runtime_error(std::string("poll: ") + std::strerror(errno));
  }
}

/// The number of bytes that send() or recv() moved, from what it returned; 0 where none could move without waiting.
size_t moved(ssize_t n) {
  if (n > 0) return static_cast<size_t>(n);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return 0;
  throw std::runtime_error("closed the connection");
}
size_t send_some(int socket, const void* data, size_t bytes) {
  return moved(send(socket, data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT));
}
size_t receive_some(int socket, void* data, size_t bytes) { return moved(recv(socket, data, bytes, MSG_DONTWAIT)); }

/// Runs tasks on a thread that lives as long as the process. Linux ends a child when the thread that forked it ends,
/// and the threads of a search come and go.
class LastingThread {
 public:
  static void run(const std::function<void()>& task) {
    static std::mutex one_at_a_time;
    static LastingThread* thread = nullptr;  // never deleted: the thread outlives static objects
    const std::lock_guard lock(one_at_a_time);
    if (!thread || thread->process_ != getpid()) thread = new LastingThread;  // a forked child has no other thread
    thread->run_here(task);
  }

 private:
  LastingThread() {
    std::thread([this] {
      std::unique_lock lock(mutex_);
      for (;;) {
        changed_.wait(lock, [&] { return task_ != nullptr; });
        (*task_)();
        task_ = nullptr;
        changed_.notify_all();
      }
    }).detach();
  }

  void run_here(const std::function<void()>& task) {
    std::unique_lock lock(mutex_);
    task_ = &task;
    changed_.notify_all();
    changed_.wait(lock, [&] { return task_ == nullptr; });
  }

  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* task_ = nullptr;
};

}  // namespace

void send_all(int socket, const void* data, size_t bytes, Deadline deadline) {
  for (const char* from = static_cast<const char*>(data); bytes > 0;) {
    const size_t n = send_some(socket, from, bytes);
    if (n == 0) wait_for(socket, POLLOUT, deadline);
    from += n;
    bytes -= n;
  }
}

void receive_all(int socket, void* data, size_t bytes, Deadline deadline) {
  for (char* to = static_cast<char*>(data); bytes > 0;) {
    const size_t n = receive_some(socket, to, bytes);
    if (n == 0) wait_for(socket, POLLIN, deadline);
    to += n;
    bytes -= n;
  }
}

void talk(int socket, std::string_view text, std::string& received, const std::function<bool()>& complete,
          Deadline deadline) {
  constexpr size_t piece = size_t{1} << 16;
  while (!text.empty() || !complete()) {
    const size_t sent = text.empty() ? 0 : send_some(socket, text.data(), text.size());
    text.remove_prefix(sent);
    const size_t old_size = received.size();
    received.resize(old_size + piece);
    size_t arrived = 0;
    try {
      arrived = receive_some(socket, received.data() + old_size, piece);
    } catch (...) {
      received.resize(old_size);
      throw;
    }
    received.resize(old_size + arrived);
    if (sent == 0 && arrived == 0)
      wait_for(socket, static_cast<short>(text.empty() ? POLLIN : POLLIN | POLLOUT), deadline);
  }
}

void ChildProcess::start(const std::vector<std::string>& command, Output output) {
  const auto fail = [](const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); };
  int ends[2], failure[2];  // failure: a pipe with the child's errno where it cannot execute the command
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail("socketpair");
  if (pipe2(failure, O_CLOEXEC) != 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    errno = error;
    fail("pipe");
  }
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  int fork_error = 0;
  LastingThread::run([&] {
    pid_ = fork();
    fork_error = errno;
    if (pid_ != 0) return;
    // Only async-signal-safe calls until exec.
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);  // the parent was killed before the line above
    dup2(ends[1], 0);
    dup2(output == Output::socket ? 0 : 2, 1);  // or nothing that a library prints reaches the parent's output
    execvp(arguments[0], arguments.data());
    const int error = errno;
    if (write(failure[1], &error, sizeof error) < 0) _exit(126);
    _exit(127);
  });
  close(ends[1]);
  close(failure[1]);
  socket_ = ends[0];
  int error = 0;
  ssize_t n = 0;
  while (pid_ > 0 && (n = read(failure[0], &error, sizeof error)) < 0 && errno == EINTR) continue;
  close(failure[0]);
  if (pid_ < 0 || n == sizeof error) {
    end();
    errno = error ? error : fork_error;
    fail("cannot run " + command[0]);
  }
  setpgid(pid_, pid_);  // in the parent, too: the group exists even if the child is killed before its own call
}

std::string ChildProcess::end(Why why) {
  const auto close_socket = [&] {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  };
  if (why == Why::finished) close_socket();
  int status = 0;
  bool ended = pid_ < 0, killed = false;
  for (int milliseconds = 0; !ended; ++milliseconds) {
    ended = waitpid(pid_, &status, WNOHANG) != 0;
    if (ended || why == Why::not_behaving || milliseconds == 100) break;
    usleep(1000);
  }
  if (pid_ > 0) kill(-pid_, SIGKILL);  // also what the child itself started
  if (!ended) {
    waitpid(pid_, &status, 0);
    killed = true;
  }
  close_socket();
  if (pid_ < 0) return "";
  pid_ = -1;
  if (killed) return "it was killed";
  if (WIFSIGNALED(status)) return std::string("it died of ") + strsignal(WTERMSIG(status));
  return "it exited with code " + std::to_string(WEXITSTATUS(status));
}

std::string own_executable() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

std::string own_command() {
  const std::string self = own_executable();
  const auto folder_of = [](const std::string& path) { return path.substr(0, path.rfind('/')); };
  const std::string name = "/mmafuzz", here = folder_of(self);
  struct stat file {};
  // The engines of a build are in a folder of it, those of an installation in libexec/mmafuzz beside bin.
  for (const std::string& place :
       {self, here + name, folder_of(here) + name, folder_of(folder_of(here)) + "/bin" + name})
    if (place.ends_with(name) && stat(place.c_str(), &file) == 0 && S_ISREG(file.st_mode) &&
        access(place.c_str(), X_OK) == 0)
      return place;
  return "mmafuzz";  // this executable is some program that uses the library
}

std::string find_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : words_of(path ? path : "", ':'))
    if (const std::string file = folder + "/" + program; access(file.c_str(), X_OK) == 0) return file;
  return "";
}

}  // namespace mmafuzz
