// The parent's side of a device child: starts it, sends requests, and ends it if it crashes, hangs, reports a failed
// device or sends malformed answers. A failed child is replaced at the next call.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>

#include "gpu_bridge/device/device_protocol.h"
#include "gpu_bridge/instructions/tile_placement.h"

namespace mmafuzz {

/// The device was lost during a call; what() says how.
struct DeviceLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// May be used from many threads; calls are taken one at a time.
class DeviceChild {
 public:
  /// `command` starts the child, which speaks on its standard input. A call that takes longer than `patience` ends it.
  DeviceChild(std::vector<std::string> command, std::chrono::milliseconds patience)
      : command_(std::move(command)), patience_(patience) {}
  /// A child that is never started: there is no device, for this reason.
  explicit DeviceChild(const Refusal& why) : info_(Result<DeviceInfo>(why)) {}
  DeviceChild(const DeviceChild&) = delete;
  DeviceChild& operator=(const DeviceChild&) = delete;

  /// Calls that are not answered by then are given up as lost, whatever the patience.
  void give_up_at(device::Clock::time_point deadline) { deadline_ = deadline; }

  /// How many requests were sent and how often a child was started.
  uint64_t calls() const { return calls_; }
  uint64_t starts() const { return starts_; }
  /// How often the device was lost, and how the last time.
  uint64_t losses() const { return losses_; }
  std::string last_loss();

  /// The device, or why there is none. Asked once; a lost device while asking is a refusal.
  Result<DeviceInfo> info();
  /// Runs tiles and writes their d. Throws DeviceLost.
  void run(int instruction, TileBuffers& tiles, const WgmmaModifiers& modifiers);
  /// A CUDA-core instruction on `cases` cases; throws DeviceLost.
  std::vector<uint64_t> scalar(int instruction, const std::vector<uint64_t>& operands, size_t cases);
  /// Throws DeviceLost.
  void convert(const BulkRequest& request, const std::vector<uint32_t>& sources, std::vector<uint32_t>& results,
               std::vector<uint8_t>& flags);
  /// The results of calls of a row of cublas_gemm.def.h, or why cuBLAS does not take them. There must be a device.
  /// Throws DeviceLost.
  Result<std::vector<uint8_t>> gemm(int row, const BlasGemm& call, uint64_t count, const BlasOperands& operands);
  /// Declined where cuBLAS or the device's memory does not take the request. There must be a device. Throws DeviceLost.
  Result<DgemmAnswer> dgemm(const DgemmRequest& request);
  /// Throws DeviceLost.
  SweepAnswer sweep(const SweepRequest& request, const std::vector<SweepParent>& parents);

 private:
  Result<std::vector<uint8_t>> call(device::Request request, const std::vector<std::span<const uint8_t>>& payload);
  /// An answer `bytes` long, or a refusal.
  Result<std::vector<uint8_t>> answer_to(const device::Request& request,
                                         const std::vector<std::span<const uint8_t>>& payload, size_t bytes);
  /// The answer of a device that must be there, `bytes` long.
  std::vector<uint8_t> result_of(const device::Request& request, const std::vector<std::span<const uint8_t>>& payload,
                                 size_t bytes);
  /// Notes a loss.
  DeviceLost lost(const std::string& how);

  std::vector<std::string> command_;
  std::chrono::milliseconds patience_{0};
  std::atomic<device::Clock::time_point> deadline_ = device::Clock::time_point::max();
  std::atomic<uint64_t> calls_ = 0, starts_ = 0, losses_ = 0;
  std::string last_loss_;
  std::mutex mutex_;
  std::optional<Result<DeviceInfo>> info_;
  ChildProcess child_;
};

/// The child of this machine's GPU: the `mmafuzz` command's hidden subcommand device-child, found as this executable,
/// beside it or above it; MMAFUZZ_DEVICE_CHILD names another program. MMAFUZZ_DEVICE_PATIENCE: seconds that a call may
/// take (60).
std::shared_ptr<DeviceChild> make_device_child();

}  // namespace mmafuzz
