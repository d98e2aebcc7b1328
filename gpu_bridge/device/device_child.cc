#include "gpu_bridge/device/device_child.h"

#include <cstdlib>

namespace mmafuzz {

using device::bytes_of;
using device::Parts;
using device::RequestKind;

DeviceLost DeviceChild::lost(const std::string& how) {
  ++losses_;
  last_loss_ = how;
  return DeviceLost(how);
}

std::string DeviceChild::last_loss() {
  const std::lock_guard lock(mutex_);
  return last_loss_;
}

Result<std::vector<uint8_t>> DeviceChild::call(device::Request request,
                                               const std::vector<std::span<const uint8_t>>& payload) {
  const auto deadline = std::min(device::Clock::now() + patience_, deadline_.load());
  try {
    if (!child_.is_running()) {
      ++starts_;
      child_.start(command_, ChildProcess::Output::error);
    }
    ++calls_;
    for (const auto& part : payload) request.bytes += part.size();
    send_all(child_.socket(), &request, sizeof request, deadline);
    for (const auto& part : payload) send_all(child_.socket(), part.data(), part.size(), deadline);
    constexpr uint64_t max_answer_bytes = uint64_t{1} << 36;  // no request has so long an answer: garbage
    device::Answer answer;
    receive_all(child_.socket(), &answer, sizeof answer, deadline);
    if (answer.magic != device::Answer::right_magic || answer.bytes > max_answer_bytes)
      throw std::runtime_error("sent what is no answer");
    std::vector<uint8_t> content(answer.bytes);
    receive_all(child_.socket(), content.data(), content.size(), deadline);
    const auto text = [&] { return std::string(content.begin(), content.end()); };
    if (answer.kind == device::AnswerKind::failed) throw std::runtime_error("reports: " + text());
    if (answer.kind == device::AnswerKind::declined) return declined(text());
    return content;
  } catch (const std::runtime_error& e) {
    const std::string how = child_.end();
    throw lost("the device child " + std::string(e.what()) + (how.empty() ? "" : " (" + how + ")"));
  }
}

Result<DeviceInfo> DeviceChild::info() {
  const std::lock_guard lock(mutex_);
  if (!info_) {
    try {
      const Result<std::vector<uint8_t>> content = call({}, {});
      if (!content) {
        info_ = content.refusal();
        child_.end(ChildProcess::Why::finished);
      } else if (content->size() != sizeof(DeviceInfo)) {
        throw lost("the device child sent no description (" + child_.end() + ")");
      } else {
        info_ = Parts(*content).plain<DeviceInfo>();
      }
    } catch (const DeviceLost& e) {
      info_ = declined(e.what());
    }
  }
  return *info_;
}

Result<std::vector<uint8_t>> DeviceChild::answer_to(const device::Request& request,
                                                    const std::vector<std::span<const uint8_t>>& payload,
                                                    size_t bytes) {
  const std::lock_guard lock(mutex_);
  Result<std::vector<uint8_t>> content = call(request, payload);
  if (content && content->size() != bytes)
    throw lost("the device child sent " + std::to_string(content->size()) + " bytes of results instead of " +
               std::to_string(bytes) + " (" + child_.end() + ")");
  return content;
}

std::vector<uint8_t> DeviceChild::result_of(const device::Request& request,
                                            const std::vector<std::span<const uint8_t>>& payload, size_t bytes) {
  Result<std::vector<uint8_t>> answer = answer_to(request, payload, bytes);
  if (!answer) {
    const std::lock_guard lock(mutex_);
    throw lost("the device is gone: " + answer.refusal().reason);
  }
  return std::move(*answer);
}

void DeviceChild::run(int instruction, TileBuffers& tiles, const WgmmaModifiers& modifiers) {
  tiles.d = result_of(
      {.kind = RequestKind::run,
       .instruction = instruction,
       .steps = tiles.steps,
       .count = tiles.tiles,
       .number = tiles.number,
       .modifiers = modifiers},
      {bytes_of(tiles.a), bytes_of(tiles.b), bytes_of(tiles.c), bytes_of(tiles.scale_a), bytes_of(tiles.scale_b)},
      tiles.d.size());
}

std::vector<uint64_t> DeviceChild::scalar(int instruction, const std::vector<uint64_t>& operands, size_t cases) {
  const std::vector<uint8_t> content =
      result_of({.kind = RequestKind::scalar, .instruction = instruction, .count = cases}, {bytes_of(operands)},
                cases * sizeof(uint64_t));
  return Parts(content).list<uint64_t>(cases);
}

void DeviceChild::convert(const BulkRequest& bulk, const std::vector<uint32_t>& sources, std::vector<uint32_t>& results,
                          std::vector<uint8_t>& flags) {
  const std::vector<uint8_t> content =
      result_of({.kind = RequestKind::convert, .count = sources.size()}, {bytes_of(bulk), bytes_of(sources)},
                sources.size() * (sizeof(uint32_t) + 1));
  Parts parts(content);
  results = parts.list<uint32_t>(sources.size());
  flags = parts.list<uint8_t>(sources.size());
}

Result<std::vector<uint8_t>> DeviceChild::gemm(int row, const BlasGemm& product, uint64_t count,
                                               const BlasOperands& operands) {
  return answer_to({.kind = RequestKind::gemm, .instruction = row, .count = count},
                   {bytes_of(product), bytes_of(operands.first), bytes_of(operands.second), bytes_of(operands.result)},
                   operands.result.size());
}

Result<DgemmAnswer> DeviceChild::dgemm(const DgemmRequest& request) {
  const auto samples = static_cast<size_t>(request.samples);
  const Result<std::vector<uint8_t>> content =
      answer_to({.kind = RequestKind::dgemm}, {bytes_of(request)}, sizeof(DgemmTimes) + sizeof(uint64_t) * samples);
  if (!content) return content.refusal();
  Parts parts(*content);
  DgemmAnswer answer;
  answer.times = parts.plain<DgemmTimes>();
  answer.sampled = parts.list<uint64_t>(samples);
  return answer;
}

SweepAnswer DeviceChild::sweep(const SweepRequest& request, const std::vector<SweepDot>& parents) {
  const std::vector<uint8_t> content =
      result_of({.kind = RequestKind::sweep}, {bytes_of(request), bytes_of(parents)}, sizeof(SweepAnswer));
  return Parts(content).plain<SweepAnswer>();
}

std::string to_text(const DeviceInfo& info) {
  const auto version = [](int v) { return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10); };
  return std::string(info.name) + ", sm_" + std::to_string(info.major) + std::to_string(info.minor) + ", driver " +
         version(info.driver) + ", runtime " + version(info.runtime);
}

std::shared_ptr<DeviceChild> make_device_child() {
  const char* program = std::getenv("MMAFUZZ_DEVICE_CHILD");
  if (const char* missing = cuda_missing(); missing && !program)
    return std::make_shared<DeviceChild>(declined(missing));
  double patience = 60;
  if (const char* text = std::getenv("MMAFUZZ_DEVICE_PATIENCE")) patience = std::max(0.01, std::atof(text));
  return std::make_shared<DeviceChild>(std::vector<std::string>{program ? program : own_command(), "device-child"},
                                       std::chrono::milliseconds(static_cast<int64_t>(1000 * patience)));
}

}  // namespace mmafuzz
