// Device units. A build without CUDA gets units that decline with that reason.
#pragma once

#include "core/registry.h"

namespace mmafuzz {

class DeviceChild;

/// Adds the device families to a registry; each executable calls this explicitly.
void add_device_units(Registry& registry);
/// The same over a device child that is shared with other users, so that one process holds one CUDA context.
void add_device_units(Registry& registry, const std::shared_ptr<DeviceChild>& child);

}  // namespace mmafuzz
