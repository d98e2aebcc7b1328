// Work divided among threads. The first exception of a worker is rethrown in the calling thread, once all have ended.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace mmafuzz {

/// The number of threads that this machine runs at the same time; 1 where it is unknown.
inline unsigned hardware_threads() { return std::max(1u, std::thread::hardware_concurrency()); }

/// Calls work(0) .. work(parts - 1), each once, on up to `threads` threads, of which the calling thread is one. After
/// an exception no further part is begun.
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
