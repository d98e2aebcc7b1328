#include "gpu_bridge/device/device_losses.h"

#include "core/function_unit.h"
#include "core/kept_batch.h"
#include "gpu_bridge/device/device_child.h"

namespace mmafuzz {
void LossGuard::run(const Unit& unit, const Batch& batch, Outcomes& outcomes, const std::function<void()>& work) {
  prepare(batch, outcomes);
  if (batch.size() == 0) return;
  try {
    work();
    losses_ = 0;
  } catch (const DeviceLost& lost) {
    const std::string finding = "device lost: " + unit.name() + ": " + lost.what() + "; the batch is " +
                                keep_batch("MMAFUZZ_DEVICE_LOSSES", "device-lost", unit.name(), batch, lost.what());
    if (++losses_ >= 3) throw std::runtime_error(finding + "; three in a row, giving up");
    fprintf(stderr, "mmafuzz: %s\n", finding.c_str());
    outcomes.flags.clear();
    outcomes.answered.assign(batch.size(), 0);
  }
}

}  // namespace mmafuzz
