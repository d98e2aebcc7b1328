// Device units. A build without CUDA gets units that decline with that reason.
#pragma once

#include "core/registry.h"

namespace mmafuzz {

/// Adds the device families to a registry; each executable calls this explicitly.
void add_device_units(Registry& registry);

}  // namespace mmafuzz
