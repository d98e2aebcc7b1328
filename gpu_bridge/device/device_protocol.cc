#include "gpu_bridge/device/device_protocol.h"

#include <poll.h>

#include <atomic>
#include <cstdlib>
#include <initializer_list>
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

using Bytes = std::vector<uint8_t>;

Bytes joined(std::initializer_list<std::span<const uint8_t>> parts) {
  size_t size = 0;
  for (const auto& part : parts) size += part.size();
  Bytes all;
  all.reserve(size);
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Bytes run(DeviceBackend& backend, const Request& request, Parts parts) {
  const TileShape& shape = instructions().at(static_cast<size_t>(request.instruction)).shape;
  const TileBytes bytes = tile_bytes(shape, request.steps);
  Tiles tiles{.steps = request.steps, .number = request.number};
  tiles.a = parts.take(bytes.a * request.count);
  tiles.b = parts.take(bytes.b * request.count);
  tiles.c = parts.take(bytes.c * request.count);
  tiles.scale_a = parts.take(bytes.scale_a * request.count);
  tiles.scale_b = parts.take(bytes.scale_b * request.count);
  Bytes d(bytes.d * request.count);
  tiles.d = d.data();
  backend.run(request.instruction, tiles, request.count, request.modifiers);
  return d;
}

Bytes sweep(DeviceBackend& backend, Parts parts) {
  const auto request = parts.plain<SweepRequest>();
  return joined({bytes_of(backend.sweep(request, parts.list<SweepDot>(request.parents)))});
}

Bytes scalar(DeviceBackend& backend, const Request& request, Parts parts) {
  const Op& op = core_instructions().at(static_cast<size_t>(request.instruction)).op;
  const int arity = op.kind == OpKind::scalar ? op.arity() : 1;
  const auto operands = parts.list<uint64_t>(request.count * static_cast<uint64_t>(arity));
  std::vector<uint64_t> results(request.count);
  backend.scalar(request.instruction, arity, operands.data(), results.data(), request.count);
  return joined({bytes_of(results)});
}

/// All results, then all flags.
Bytes convert(DeviceBackend& backend, const Request& request, Parts parts) {
  const auto bulk = parts.plain<BulkRequest>();
  const auto sources = parts.list<uint32_t>(request.count);
  std::vector<uint32_t> results(request.count);
  Bytes flags(request.count);
  backend.convert(bulk, sources.data(), results.data(), flags.data(), request.count);
  return joined({bytes_of(results), bytes_of(flags)});
}

Result<Bytes> gemm(DeviceBackend& backend, const Request& request, Parts parts) {
  const CublasRow& row = cublas_rows().at(static_cast<size_t>(request.instruction));
  const auto call = parts.plain<BlasGemm>();
  const auto elements = [&](int32_t x, int32_t y) {
    return request.count * static_cast<uint64_t>(x) * static_cast<uint64_t>(y);
  };
  const auto bytes = [](const Format& format) { return static_cast<uint64_t>(format.storage_bytes()); };
  const uint8_t* first = parts.take(elements(call.rows, call.k) * bytes(row.operand));
  const uint8_t* second = parts.take(elements(call.columns, call.k) * bytes(row.operand));
  Bytes result = parts.list<uint8_t>(elements(call.rows, call.columns) * bytes(row.result));
  const Result<bool> done = backend.gemm(request.instruction, call, request.count, first, second, result.data());
  if (!done) return done.refusal();
  return result;
}

/// The times, then the sampled elements.
Result<Bytes> dgemm(DeviceBackend& backend, Parts parts) {
  const Result<DgemmAnswer> done = backend.dgemm(parts.plain<DgemmRequest>());
  if (!done) return done.refusal();
  return joined({bytes_of(done->times), bytes_of(done->sampled)});
}

/// The payload of the answer, or why the request is declined.
Result<Bytes> answer_to(DeviceBackend& backend, const Request& request, Parts parts) {
  switch (request.kind) {
    case RequestKind::hello: return joined({bytes_of(backend.info())});
    case RequestKind::run: return run(backend, request, parts);
    case RequestKind::sweep: return sweep(backend, parts);
    case RequestKind::scalar: return scalar(backend, request, parts);
    case RequestKind::convert: return convert(backend, request, parts);
    case RequestKind::gemm: return gemm(backend, request, parts);
    case RequestKind::dgemm: return dgemm(backend, parts);
  }
  throw std::runtime_error("no such request");
}

/// Ends this process when the other end of the socket closes, whatever the device is doing, unless `done` is set. A
/// signal on the parent's death would not do: it comes when the thread that started the child ends.
void end_when_closed(int socket, std::shared_ptr<std::atomic<bool>> done) {
  std::thread([socket, done] {
    pollfd p{socket, 0, 0};  // a hang-up is always reported
    while (poll(&p, 1, -1) <= 0 || !(p.revents & (POLLHUP | POLLERR | POLLNVAL))) {}
    if (!*done) std::quick_exit(0);
  }).detach();
}

}  // namespace

int serve(int socket, const Result<std::unique_ptr<DeviceBackend>>& backend) {
  const auto done = std::make_shared<std::atomic<bool>>(false);
  end_when_closed(socket, done);
  for (;;) {
    Request request;
    try {
      receive_all(socket, &request, sizeof request, Clock::now() + forever);
    } catch (const std::runtime_error&) {  // the unit has closed the socket
      *done = true;
      return 0;
    }
    if (request.magic != Request::right_magic) {
      *done = true;
      return 2;
    }
    Bytes payload(request.bytes);
    receive_all(socket, payload.data(), payload.size(), Clock::now() + forever);
    if (!backend) {
      answer(socket, AnswerKind::declined, backend.refusal().reason);
      continue;
    }
    try {
      const Result<Bytes> content = answer_to(**backend, request, Parts(payload));
      if (content) answer(socket, AnswerKind::ok, content->data(), content->size());
      else answer(socket, AnswerKind::declined, content.refusal().reason);
    } catch (const std::exception& e) {
      *done = true;
      try {
        answer(socket, AnswerKind::failed, e.what());
      } catch (const std::runtime_error&) {  // the other end has closed the socket
      }
      return 1;
    }
  }
}

}  // namespace mmafuzz::device
