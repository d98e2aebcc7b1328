// A unit of a device. When the device is lost during a batch, the unit says so on stderr and keeps the batch in a file,
// and the cases have no answer. Three losses of one unit in a row end the run.
#pragma once

#include <functional>

#include "core/unit.h"

namespace mmafuzz {

/// `compute` sets the results and throws DeviceLost where the device is lost. At the third loss in a row Unit::run
/// throws a std::runtime_error.
std::unique_ptr<Unit> make_device_unit(std::function<void(const Batch&, Outcomes&)> compute);

}  // namespace mmafuzz
