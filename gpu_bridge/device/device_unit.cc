#include "gpu_bridge/device/device_unit.h"

#include <atomic>

#include "core/function_unit.h"
#include "core/kept_batch.h"
#include "gpu_bridge/device/device_child.h"

namespace mmafuzz {
namespace {

class DeviceUnit final : public Unit {
 public:
  explicit DeviceUnit(std::function<void(const Batch&, Outcomes&)> compute) : compute_(std::move(compute)) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    if (batch.size() == 0) return;
    try {
      compute_(batch, outcomes);
      losses_ = 0;
    } catch (const DeviceLost& lost) {
      const std::string message = "device lost: " + name() + ": " + lost.what() + "; the batch is " +
                                  keep_batch("MMAFUZZ_DEVICE_LOSSES", "device-lost", name(), batch, lost.what());
      if (++losses_ >= 3) throw std::runtime_error(message + "; three in a row, giving up");
      fprintf(stderr, "mmafuzz: %s\n", message.c_str());
      outcomes.flags.clear();
      outcomes.answered.assign(batch.size(), 0);  // no case has an answer; the run goes on
    }
  }

 private:
  std::function<void(const Batch&, Outcomes&)> compute_;
  mutable std::atomic<int> losses_ = 0;  ///< in a row
};

}  // namespace

std::unique_ptr<Unit> make_device_unit(std::function<void(const Batch&, Outcomes&)> compute) {
  return std::make_unique<DeviceUnit>(std::move(compute));
}

}  // namespace mmafuzz
