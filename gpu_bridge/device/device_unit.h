// A unit of a device. When the device is lost during a batch, the unit prints the finding and keeps the batch in a
// file, and the cases have no answer. Three losses of one unit in a row end the run.
#pragma once

#include <functional>

#include "core/unit.h"

namespace mmafuzz {

/// A unit of a device: `compute` sets the results and throws DeviceLost where the device is lost. Unit::run throws a
/// std::runtime_error at the third loss in a row; a batch with results starts the count again.
std::unique_ptr<Unit> make_device_unit(std::function<void(const Batch&, Outcomes&)> compute);

}  // namespace mmafuzz
