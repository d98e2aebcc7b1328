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

/// The device was lost during a call: the child crashed, hung, sent a malformed answer or reported a failure. what()
/// says which.
struct DeviceLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Methods may be called from many threads; a mutex serializes requests. Those that send a request throw DeviceLost,
/// except info().
class DeviceChild {
 public:
  /// `command` starts the child; its standard input is the socket of requests and answers. A call that takes longer
  /// than `patience` ends the child and throws DeviceLost.
  DeviceChild(std::vector<std::string> command, std::chrono::milliseconds patience)
      : command_(std::move(command)), patience_(patience) {}
  /// A child that is never started: there is no device, for this reason.
  explicit DeviceChild(const Refusal& why) : info_(Result<DeviceInfo>(why)) {}
  DeviceChild(const DeviceChild&) = delete;
  DeviceChild& operator=(const DeviceChild&) = delete;

  /// A call without an answer at `deadline` counts as a lost device, whatever is left of the patience.
  void give_up_at(device::Clock::time_point deadline) { deadline_ = deadline; }

  /// How many requests were sent and how often a child was started.
  uint64_t calls() const { return calls_; }
  uint64_t starts() const { return starts_; }
  /// How often the device was lost, and how the last time.
  uint64_t losses() const { return losses_; }
  std::string last_loss();

  /// The device, or why there is none. The first call asks the child and keeps the answer for later calls; a device
  /// that is lost during it is a refusal.
  Result<DeviceInfo> info();
  /// Runs tiles (TileBuffers says what `steps` and `number` are) and writes their d.
  void run(int instruction, TileBuffers& tiles, const WgmmaModifiers& modifiers);
  /// The results of a CUDA-core instruction on `cases` cases; parameters as in DeviceBackend::scalar.
  std::vector<uint64_t> scalar(int instruction, const std::vector<uint64_t>& operands, size_t cases);
  /// Sets `results` and `flags` to one entry for each source.
  void convert(const BulkRequest& request, const std::vector<uint32_t>& sources, std::vector<uint32_t>& results,
               std::vector<uint8_t>& flags);
  /// The results of `count` calls of cuBLAS as in DeviceBackend::gemm, one call's after the other's, or why cuBLAS does
  /// not take them. `row` is an index in cublas_rows(). info() must be a device.
  Result<std::vector<uint8_t>> gemm(int row, const BlasGemm& product, uint64_t count, const BlasOperands& operands);
  /// Declined where cuBLAS or the device's memory does not take the request. info() must be a device.
  Result<DgemmAnswer> dgemm(const DgemmRequest& request);
  /// One epoch of a sweep; `parents` are dots of earlier epochs that reached a new bin.
  SweepAnswer sweep(const SweepRequest& request, const std::vector<SweepDot>& parents);

 private:
  /// Sends one request and waits for its answer: the payload, or the child's refusal. mutex_ must be held.
  Result<std::vector<uint8_t>> call(device::Request request, const std::vector<std::span<const uint8_t>>& payload);
  /// Locks mutex_ and calls call(). The payload must be `bytes` long, else DeviceLost.
  Result<std::vector<uint8_t>> answer_to(const device::Request& request,
                                         const std::vector<std::span<const uint8_t>>& payload, size_t bytes);
  /// As answer_to(), but a refusal is a lost device, too.
  std::vector<uint8_t> result_of(const device::Request& request, const std::vector<std::span<const uint8_t>>& payload,
                                 size_t bytes);
  /// Counts a loss and returns the exception to throw. mutex_ must be held, as for call().
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

/// The child of this machine's GPU: the hidden subcommand device-child of the `mmafuzz` command, which is this
/// executable or lies beside or above it. The environment: MMAFUZZ_DEVICE_CHILD names another program,
/// MMAFUZZ_DEVICE_PATIENCE the limit of a call in seconds (default 60).
std::shared_ptr<DeviceChild> make_device_child();

}  // namespace mmafuzz
