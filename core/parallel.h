// Work divided among threads. What a worker throws is thrown again by the caller, once all threads have ended.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace mmafuzz {

/// Threads that run at the same time on this machine; 1 where it does not say.
inline unsigned hardware_threads() { return std::max(1u, std::thread::hardware_concurrency()); }

/// Calls work(0) .. work(parts - 1), each once, on up to `threads` threads. After an exception no further part is
/// begun.
template <class Work>
void in_parallel(unsigned threads, size_t parts, const Work& work) {
  std::atomic<size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto run = [&] {
    try {
      for (size_t part = next++; part < parts; part = next++) work(part);
    } catch (...) {
      next = parts;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads && i < parts; ++i) others.emplace_back(run);
  run();
  for (std::thread& thread : others) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace mmafuzz
