#include "gpu_bridge/device/device_losses.h"

#include <unistd.h>

#include <cstdlib>

#include "core/case_text.h"
#include "gpu_bridge/device/device_child.h"

namespace mmafuzz {
namespace {

/// Keeps the batch that was in flight when a device was lost; returns the file's name, or why it could not be kept.
std::string keep_batch(const std::string& unit, const Batch& batch, const std::string& reason) {
  static std::atomic<int> number = 0;
  const char* folder = std::getenv("MMAFUZZ_DEVICE_LOSSES");
  const std::string file = std::string(folder ? folder : ".") + "/device-lost-" + std::to_string(getpid()) + "-" +
                           std::to_string(number++) + ".cases";
  try {
    CaseWriter writer(file);
    writer.comment("in flight when " + reason);
    writer.unit(unit);
    writer.op(batch.op());
    for (size_t i = 0; i < batch.size(); ++i) writer.one_case(batch, i);
    writer.finish();
  } catch (const std::exception& e) {
    return std::string("not kept: ") + e.what();
  }
  return "kept in " + file;
}

}  // namespace

void LossGuard::run(const Unit& unit, const Batch& batch, Outcomes& outcomes, const std::function<void()>& work) {
  const FieldShape result = batch.op().result();
  outcomes.results = Column(result.format, result.count);
  outcomes.results.resize(batch.size());
  outcomes.flags.clear();
  outcomes.answered.clear();
  if (batch.size() == 0) return;
  try {
    work();
    losses_ = 0;
  } catch (const DeviceLost& lost) {
    const std::string finding = "device lost: " + unit.name() + ": " + lost.what() + "; the batch is " +
                                keep_batch(unit.name(), batch, lost.what());
    if (++losses_ >= 3) throw std::runtime_error(finding + "; three in a row, giving up");
    fprintf(stderr, "mmafuzz: %s\n", finding.c_str());
    outcomes.flags.clear();
    outcomes.answered.assign(batch.size(), 0);
  }
}

}  // namespace mmafuzz
