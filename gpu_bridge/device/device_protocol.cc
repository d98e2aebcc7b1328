#include "gpu_bridge/device/device_protocol.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "gpu_bridge/instructions/core_instructions.h"
#include "gpu_bridge/instructions/tile_placement.h"

namespace mmafuzz::device {
namespace {

constexpr auto forever = std::chrono::hours(24 * 365);

void answer(int socket, AnswerKind kind, const void* payload, size_t bytes) {
  Answer head;
  head.kind = kind;
  head.bytes = bytes;
  send_all(socket, &head, sizeof head, Clock::now() + forever);
  send_all(socket, payload, bytes, Clock::now() + forever);
}
void answer(int socket, AnswerKind kind, const std::string& text) { answer(socket, kind, text.data(), text.size()); }

/// Points at consecutive parts of a payload.
class Parts {
 public:
  explicit Parts(const std::vector<uint8_t>& payload) : payload_(payload) {}
  const uint8_t* take(uint64_t bytes) {
    if (bytes > payload_.size() - at_) throw std::runtime_error("a request was shorter than it said");
    const uint8_t* part = payload_.data() + at_;
    at_ += bytes;
    return part;
  }

 private:
  const std::vector<uint8_t>& payload_;
  size_t at_ = 0;
};

void run(int socket, DeviceBackend& backend, const Request& request, const std::vector<uint8_t>& payload) {
  const TileShape& shape = instructions().at(static_cast<size_t>(request.instruction)).shape;
  const TileBytes bytes = tile_bytes(shape, request.steps);
  Parts parts(payload);
  Tiles tiles;
  tiles.steps = request.steps;
  tiles.number = request.number;
  tiles.a = parts.take(bytes.a * request.count);
  tiles.b = parts.take(bytes.b * request.count);
  tiles.c = parts.take(bytes.c * request.count);
  tiles.scale_a = parts.take(bytes.scale_a * request.count);
  tiles.scale_b = parts.take(bytes.scale_b * request.count);
  std::vector<uint8_t> d(bytes.d * request.count);
  tiles.d = d.data();
  backend.run(request.instruction, tiles, request.count, request.modifiers);
  answer(socket, AnswerKind::ok, d.data(), d.size());
}

void sweep(int socket, DeviceBackend& backend, const std::vector<uint8_t>& payload) {
  Parts parts(payload);
  SweepRequest request;
  std::memcpy(&request, parts.take(sizeof request), sizeof request);
  std::vector<SweepParent> parents(request.parents);
  std::memcpy(parents.data(), parts.take(sizeof(SweepParent) * parents.size()), sizeof(SweepParent) * parents.size());
  const SweepAnswer result = backend.sweep(request, parents);
  answer(socket, AnswerKind::ok, &result, sizeof result);
}

void scalar(int socket, DeviceBackend& backend, const Request& request, const std::vector<uint8_t>& payload) {
  const Op& op = core_instructions().at(static_cast<size_t>(request.instruction)).op;
  const int arity = op.kind == OpKind::scalar ? op.arity() : 1;
  Parts parts(payload);
  std::vector<uint64_t> operands(request.count * static_cast<uint64_t>(arity)), results(request.count);
  std::memcpy(operands.data(), parts.take(sizeof(uint64_t) * operands.size()), sizeof(uint64_t) * operands.size());
  backend.scalar(request.instruction, arity, operands.data(), results.data(), request.count);
  answer(socket, AnswerKind::ok, results.data(), sizeof(uint64_t) * results.size());
}

/// The answer holds all results, then all flags.
void convert(int socket, DeviceBackend& backend, const Request& request, const std::vector<uint8_t>& payload) {
  Parts parts(payload);
  BulkRequest bulk;
  std::memcpy(&bulk, parts.take(sizeof bulk), sizeof bulk);
  std::vector<uint32_t> sources(request.count), results(request.count);
  std::memcpy(sources.data(), parts.take(sizeof(uint32_t) * sources.size()), sizeof(uint32_t) * sources.size());
  std::vector<uint8_t> flags(request.count);
  backend.convert(bulk, sources.data(), results.data(), flags.data(), request.count);
  std::vector<uint8_t> content(sizeof(uint32_t) * results.size() + flags.size());
  std::memcpy(content.data(), results.data(), sizeof(uint32_t) * results.size());
  std::memcpy(content.data() + sizeof(uint32_t) * results.size(), flags.data(), flags.size());
  answer(socket, AnswerKind::ok, content.data(), content.size());
}

void gemm(int socket, DeviceBackend& backend, const Request& request, const std::vector<uint8_t>& payload) {
  const CublasRow& row = cublas_rows().at(static_cast<size_t>(request.instruction));
  Parts parts(payload);
  BlasGemm call;
  std::memcpy(&call, parts.take(sizeof call), sizeof call);
  const auto elements = [&](int32_t x, int32_t y) {
    return request.count * static_cast<uint64_t>(x) * static_cast<uint64_t>(y);
  };
  const auto bytes = [](const Format& format) { return static_cast<uint64_t>(format.storage_bytes()); };
  const uint8_t* first = parts.take(elements(call.rows, call.k) * bytes(row.operand));
  const uint8_t* second = parts.take(elements(call.columns, call.k) * bytes(row.operand));
  const uint64_t size = elements(call.rows, call.columns) * bytes(row.result);
  const uint8_t* addend = parts.take(size);
  std::vector<uint8_t> result(addend, addend + size);
  const Result<bool> done = backend.gemm(request.instruction, call, request.count, first, second, result.data());
  if (!done) return answer(socket, AnswerKind::declined, done.refusal().reason);
  answer(socket, AnswerKind::ok, result.data(), result.size());
}

/// The answer holds the times, then the sampled elements.
void dgemm(int socket, DeviceBackend& backend, const std::vector<uint8_t>& payload) {
  DgemmRequest request;
  std::memcpy(&request, Parts(payload).take(sizeof request), sizeof request);
  const Result<DgemmAnswer> done = backend.dgemm(request);
  if (!done) return answer(socket, AnswerKind::declined, done.refusal().reason);
  std::vector<uint8_t> content(sizeof done->times + sizeof(uint64_t) * done->sampled.size());
  std::memcpy(content.data(), &done->times, sizeof done->times);
  std::memcpy(content.data() + sizeof done->times, done->sampled.data(), sizeof(uint64_t) * done->sampled.size());
  answer(socket, AnswerKind::ok, content.data(), content.size());
}

}  // namespace

/// Ends this process when the other end closes, whatever the device is doing. A signal on the parent's death would not
/// do: it comes when the thread that started the child ends.
void end_with(int socket, std::shared_ptr<std::atomic<bool>> done) {
  std::thread([socket, done] {
    pollfd p{socket, 0, 0};  // a hang-up is always reported
    while (poll(&p, 1, -1) <= 0 || !(p.revents & (POLLHUP | POLLERR | POLLNVAL))) {}
    if (!*done) std::quick_exit(0);
  }).detach();
}

int serve(int socket, const Result<std::unique_ptr<DeviceBackend>>& backend) {
  const auto done = std::make_shared<std::atomic<bool>>(false);
  end_with(socket, done);
  for (;;) {
    Request request;
    try {
      receive_all(socket, &request, sizeof request, Clock::now() + forever);
    } catch (const std::runtime_error&) {
      *done = true;
      return 0;  // the unit is done
    }
    if (request.magic != Request::right_magic) {
      *done = true;
      return 2;
    }
    std::vector<uint8_t> payload(request.bytes);
    receive_all(socket, payload.data(), payload.size(), Clock::now() + forever);
    if (!backend) {
      answer(socket, AnswerKind::declined, backend.refusal().reason);
      continue;
    }
    try {
      switch (request.kind) {
        case RequestKind::hello: {
          const DeviceInfo info = (*backend)->info();
          answer(socket, AnswerKind::ok, &info, sizeof info);
          break;
        }
        case RequestKind::run: run(socket, **backend, request, payload); break;
        case RequestKind::sweep: sweep(socket, **backend, payload); break;
        case RequestKind::scalar: scalar(socket, **backend, request, payload); break;
        case RequestKind::convert: convert(socket, **backend, request, payload); break;
        case RequestKind::gemm: gemm(socket, **backend, request, payload); break;
        case RequestKind::dgemm: dgemm(socket, **backend, payload); break;
      }
    } catch (const std::exception& e) {
      *done = true;
      try {
        answer(socket, AnswerKind::failed, e.what());
      } catch (const std::runtime_error&) {  // nobody listens any more
      }
      return 1;
    }
  }
}

}  // namespace mmafuzz::device
