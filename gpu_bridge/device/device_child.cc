#include "gpu_bridge/device/device_child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace mmafuzz {
namespace {

template <class T>
std::span<const uint8_t> bytes_of(const std::vector<T>& v) {
  return {reinterpret_cast<const uint8_t*>(v.data()), sizeof(T) * v.size()};
}
template <class T>
std::span<const uint8_t> bytes_of(const T& plain) {
  return {reinterpret_cast<const uint8_t*>(&plain), sizeof plain};
}

}  // namespace

DeviceChild::~DeviceChild() { end(true); }

void DeviceChild::start() {
  int ends[2];
  ++starts_;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw lost(std::string("socketpair: ") + std::strerror(errno));
  std::vector<char*> arguments;
  for (std::string& word : command_) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {  // only async-signal-safe calls until exec; when this process ends, the child sees its socket closed
    dup2(ends[1], 0);
    dup2(2, 1);  // nothing that a library prints may reach the parent's output
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  socket_ = ends[0];
  if (pid_ < 0) {
    end();
    throw lost(std::string("fork: ") + std::strerror(errno));
  }
}

DeviceLost DeviceChild::lost(const std::string& how) {
  ++losses_;
  last_loss_ = how;
  return DeviceLost(how);
}

std::string DeviceChild::last_loss() {
  const std::lock_guard lock(mutex_);
  return last_loss_;
}

std::string DeviceChild::end(bool expected) {
  const auto close_socket = [&] {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  };
  if (expected) close_socket();  // it ends by itself then
  int status = 0;
  bool ended = pid_ < 0, killed = false;
  // A child that has ended by itself says more than the kill.
  for (int i = 0; i < 50 && !ended; ++i) {
    ended = waitpid(pid_, &status, WNOHANG) != 0;
    if (!ended) usleep(2000);
  }
  if (!ended) {
    kill(pid_, SIGKILL);
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

std::vector<uint8_t> DeviceChild::call(device::Request request, const std::vector<std::span<const uint8_t>>& payload,
                                       bool& declined) {
  const auto deadline = std::min(device::Clock::now() + patience_, deadline_.load());
  try {
    if (pid_ < 0) start();
    ++calls_;
    for (const auto& part : payload) request.bytes += part.size();
    device::send_all(socket_, &request, sizeof request, deadline);
    for (const auto& part : payload) device::send_all(socket_, part.data(), part.size(), deadline);
    device::Answer answer;
    device::receive_all(socket_, &answer, sizeof answer, deadline);
    if (answer.magic != device::Answer::right_magic || answer.bytes > uint64_t{1} << 36)
      throw std::runtime_error("sent what is no answer");
    std::vector<uint8_t> content(answer.bytes);
    device::receive_all(socket_, content.data(), content.size(), deadline);
    declined = answer.kind == device::AnswerKind::declined;
    if (answer.kind == device::AnswerKind::failed)
      throw std::runtime_error("reports: " + std::string(content.begin(), content.end()));
    return content;
  } catch (const DeviceLost&) {
    throw;
  } catch (const std::runtime_error& e) {
    const std::string how = end();
    throw lost("the device child " + std::string(e.what()) + (how.empty() ? "" : " (" + how + ")"));
  }
}

Result<DeviceInfo> DeviceChild::info() {
  const std::lock_guard lock(mutex_);
  if (!info_) {
    try {
      bool no_device = false;
      const std::vector<uint8_t> content = call({}, {}, no_device);
      if (no_device) {
        info_ = declined(std::string(content.begin(), content.end()));
        end(true);
      } else if (content.size() != sizeof(DeviceInfo)) {
        throw lost("the device child sent no description (" + end() + ")");
      } else {
        DeviceInfo info;
        std::memcpy(&info, content.data(), sizeof info);
        info_ = info;
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
  bool refused = false;
  std::vector<uint8_t> content = call(request, payload, refused);
  if (refused) return declined(std::string(content.begin(), content.end()));
  if (content.size() != bytes)
    throw lost("the device child sent " + std::to_string(content.size()) + " bytes of results instead of " +
               std::to_string(bytes) + " (" + end() + ")");
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
  device::Request request;
  request.kind = device::RequestKind::run;
  request.instruction = instruction;
  request.steps = tiles.steps;
  request.count = tiles.tiles;
  request.modifiers = modifiers;
  tiles.d = result_of(
      request,
      {bytes_of(tiles.a), bytes_of(tiles.b), bytes_of(tiles.c), bytes_of(tiles.scale_a), bytes_of(tiles.scale_b)},
      tiles.d.size());
}

std::vector<uint64_t> DeviceChild::scalar(int instruction, const std::vector<uint64_t>& operands, size_t cases) {
  device::Request request;
  request.kind = device::RequestKind::scalar;
  request.instruction = instruction;
  request.count = cases;
  const std::vector<uint8_t> content = result_of(request, {bytes_of(operands)}, cases * sizeof(uint64_t));
  std::vector<uint64_t> results(cases);
  std::memcpy(results.data(), content.data(), content.size());
  return results;
}

void DeviceChild::convert(const BulkRequest& bulk, const std::vector<uint32_t>& sources, std::vector<uint32_t>& results,
                          std::vector<uint8_t>& flags) {
  device::Request request;
  request.kind = device::RequestKind::convert;
  request.count = sources.size();
  const std::vector<uint8_t> content =
      result_of(request, {bytes_of(bulk), bytes_of(sources)}, sources.size() * (sizeof(uint32_t) + 1));
  results.resize(sources.size());
  std::memcpy(results.data(), content.data(), sources.size() * sizeof(uint32_t));
  flags.assign(content.begin() + static_cast<std::ptrdiff_t>(sources.size() * sizeof(uint32_t)), content.end());
}

Result<std::vector<uint8_t>> DeviceChild::gemm(int row, const BlasGemm& call, uint64_t count,
                                               const BlasOperands& operands) {
  device::Request request;
  request.kind = device::RequestKind::gemm;
  request.instruction = row;
  request.count = count;
  return answer_to(request,
                   {bytes_of(call), bytes_of(operands.first), bytes_of(operands.second), bytes_of(operands.result)},
                   operands.result.size());
}

SweepAnswer DeviceChild::sweep(const SweepRequest& request, const std::vector<SweepParent>& parents) {
  device::Request head;
  head.kind = device::RequestKind::sweep;
  const std::vector<uint8_t> content = result_of(head, {bytes_of(request), bytes_of(parents)}, sizeof(SweepAnswer));
  SweepAnswer answer;
  std::memcpy(&answer, content.data(), sizeof answer);
  return answer;
}

std::string to_text(const DeviceInfo& info) {
  const auto version = [](int v) { return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10); };
  return std::string(info.name) + ", sm_" + std::to_string(info.major) + std::to_string(info.minor) + ", driver " +
         version(info.driver) + ", runtime " + version(info.runtime);
}

std::shared_ptr<DeviceChild> make_device_child() {
  namespace fs = std::filesystem;
  const char* other = std::getenv("MMAFUZZ_DEVICE_CHILD");
  if (const char* missing = cuda_missing(); missing && !other) return std::make_shared<DeviceChild>(declined(missing));
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  fs::path program = self;
  for (const fs::path& place : {self, self.parent_path() / "mmafuzz", self.parent_path().parent_path() / "mmafuzz"})
    if (place.filename() == "mmafuzz" && fs::exists(place, error)) {
      program = place;
      break;
    }
  if (other) program = other;
  double patience = 60;
  if (const char* text = std::getenv("MMAFUZZ_DEVICE_PATIENCE")) patience = std::max(0.01, std::atof(text));
  return std::make_shared<DeviceChild>(std::vector<std::string>{program.string(), "device-child"},
                                       std::chrono::milliseconds(static_cast<int64_t>(1000 * patience)));
}

}  // namespace mmafuzz
