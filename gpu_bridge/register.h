// Device units. A build without CUDA gets units that decline with that reason.
#pragma once

#include "core/registry.h"

namespace mmafuzz {

class DeviceChild;

/// Adds the device families to a registry; each executable calls this explicitly.
void add_device_units(Registry& registry);
/// The same over a child that others use too: one process with one context.
void add_device_units(Registry& registry, const std::shared_ptr<DeviceChild>& child);

}  // namespace mmafuzz
