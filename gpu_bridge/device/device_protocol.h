// The conversation between a device unit and its device child over one socket: a request, then its answer, each a
// header with its payload. Both ends are the same executable, so structures travel as they are.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/child_process.h"
#include "gpu_bridge/device/device_backend.h"

namespace mmafuzz::device {

enum class RequestKind : uint32_t { hello, run, sweep, scalar, convert, gemm, dgemm };

struct Request {
  static constexpr uint32_t right_magic = 0x6d6d6131;
  uint32_t magic = right_magic;
  RequestKind kind = RequestKind::hello;
  int32_t instruction = 0;
  int32_t steps = 1;
  uint64_t count = 0;   ///< of tiles, cases, sources or calls
  uint64_t number = 0;  ///< of the first tile
  WgmmaModifiers modifiers = {};
  uint64_t bytes = 0;  ///< of the payload that follows
};

/// declined: no device that the kernels run on, or cuBLAS does not take a call. failed: the device failed and the child
/// ends. The payload is then the reason.
enum class AnswerKind : uint32_t { ok, declined, failed };

struct Answer {
  static constexpr uint32_t right_magic = 0x6d6d6132;
  uint32_t magic = right_magic;
  AnswerKind kind = AnswerKind::ok;
  uint64_t bytes = 0;
};

/// Plain data, as it travels.
template <class T>
std::span<const uint8_t> bytes_of(const std::vector<T>& v) {
  return {reinterpret_cast<const uint8_t*>(v.data()), sizeof(T) * v.size()};
}
template <class T>
std::span<const uint8_t> bytes_of(const T& plain) {
  return {reinterpret_cast<const uint8_t*>(&plain), sizeof plain};
}

/// Takes consecutive parts off a payload.
class Parts {
 public:
  explicit Parts(const std::vector<uint8_t>& payload) : payload_(payload) {}
  const uint8_t* take(uint64_t bytes) {
    if (bytes > payload_.size() - at_) throw std::runtime_error("a request was shorter than it said");
    const uint8_t* part = payload_.data() + at_;
    at_ += bytes;
    return part;
  }
  template <class T>
  T plain() {
    T x;
    std::memcpy(&x, take(sizeof x), sizeof x);
    return x;
  }
  template <class T>
  std::vector<T> list(uint64_t count) {
    const uint8_t* from = take(sizeof(T) * count);
    std::vector<T> all(count);
    std::copy_n(from, sizeof(T) * count, reinterpret_cast<uint8_t*>(all.data()));
    return all;
  }

 private:
  const std::vector<uint8_t>& payload_;
  size_t at_ = 0;
};

using Clock = std::chrono::steady_clock;

/// Answers requests on a socket until the other end closes it. Returns the exit code of the child.
int serve(int socket, const Result<std::unique_ptr<DeviceBackend>>& backend);

}  // namespace mmafuzz::device
