// What a unit does when its device is lost during a batch: the finding is printed, the batch is kept, its cases have no
// answer. Three losses in a row end the run.
#pragma once

#include <functional>

#include "core/unit.h"

namespace mmafuzz {

/// A unit of a device: `compute` sets the results, and may throw DeviceLost. The third loss in a row is thrown as a
/// std::runtime_error.
std::unique_ptr<Unit> make_device_unit(std::function<void(const Batch&, Outcomes&)> compute);

}  // namespace mmafuzz
