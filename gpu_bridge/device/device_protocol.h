// The protocol between a device unit and its device child over one socket: a request, then its answer, each a header
// (Request, Answer) followed by its payload. Both ends are the same executable, so structures travel as they are.
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
  int32_t instruction = 0;  ///< index of a row: of instructions(), core_instructions() or cublas_rows(), by kind
  int32_t steps = 1;
  uint64_t count = 0;   ///< number of tiles, cases, sources or calls, by kind
  uint64_t number = 0;  ///< Tiles::number of the first tile
  WgmmaModifiers modifiers = {};
  uint64_t bytes = 0;  ///< length of the payload that follows
};

/// declined: there is no usable device, or cuBLAS does not take a call. failed: the device failed and the child ends.
/// The payload of both is the reason as text.
enum class AnswerKind : uint32_t { ok, declined, failed };

struct Answer {
  static constexpr uint32_t right_magic = 0x6d6d6132;
  uint32_t magic = right_magic;
  AnswerKind kind = AnswerKind::ok;
  uint64_t bytes = 0;
};

/// The bytes of plain data, which must outlive the span.
template <class T>
std::span<const uint8_t> bytes_of(const std::vector<T>& v) {
  return {reinterpret_cast<const uint8_t*>(v.data()), sizeof(T) * v.size()};
}
template <class T>
std::span<const uint8_t> bytes_of(const T& plain) {
  return {reinterpret_cast<const uint8_t*>(&plain), sizeof plain};
}

/// Reads consecutive parts of a payload, which must outlive it. Throws std::runtime_error where fewer bytes are left.
class Parts {
 public:
  explicit Parts(const std::vector<uint8_t>& payload) : payload_(payload) {}
  const uint8_t* take(uint64_t bytes) {
    if (bytes > payload_.size() - taken_) throw std::runtime_error("a payload was shorter than it said");
    const uint8_t* part = payload_.data() + taken_;
    taken_ += bytes;
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
    const uint8_t* part = take(sizeof(T) * count);
    std::vector<T> all(count);
    std::copy_n(part, sizeof(T) * count, reinterpret_cast<uint8_t*>(all.data()));
    return all;
  }

 private:
  const std::vector<uint8_t>& payload_;
  size_t taken_ = 0;  ///< bytes
};

using Clock = std::chrono::steady_clock;

/// Answers requests on a socket until the other end closes it. Returns the exit code of the child.
int serve(int socket, const Result<std::unique_ptr<DeviceBackend>>& backend);

}  // namespace mmafuzz::device
