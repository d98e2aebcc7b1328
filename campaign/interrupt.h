// Ctrl-C during long work: the work is asked to end, and the command says what was kept.
#pragma once

#include <csignal>
#include <stdexcept>

namespace mmafuzz {

/// Work that a signal ended before it was done. The command prints it and exits with 130, as shells do.
struct Interrupted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Notes SIGINT, SIGTERM and SIGHUP during its lifetime, without ending the process. Only one object at a time.
class InterruptWatch {
 public:
  InterruptWatch() {
    raised_ = 0;
    struct sigaction note {};
    note.sa_handler = [](int) { raised_ = 1; };
    for (size_t i = 0; i < count; ++i) sigaction(signals[i], &note, &before_[i]);
  }
  ~InterruptWatch() {
    for (size_t i = 0; i < count; ++i) sigaction(signals[i], &before_[i], nullptr);
  }
  InterruptWatch(const InterruptWatch&) = delete;
  bool raised() const { return raised_ != 0; }

 private:
  static constexpr size_t count = 3;
  static constexpr int signals[count] = {SIGINT, SIGTERM, SIGHUP};
  static inline volatile std::sig_atomic_t raised_ = 0;
  struct sigaction before_[count];
};

}  // namespace mmafuzz
