// What a unit does when its device is lost during a batch: the finding is printed, the batch is kept, its cases have no
// answer. Three losses in a row end the run.
#pragma once

#include <atomic>
#include <functional>

#include "core/unit.h"

namespace mmafuzz {

class LossGuard {
 public:
  /// Calls `work`, which may throw DeviceLost. Throws std::runtime_error at the third loss in a row.
  void run(const Unit& unit, const Batch& batch, Outcomes& outcomes, const std::function<void()>& work);

 private:
  std::atomic<int> losses_ = 0;
};

}  // namespace mmafuzz
