// The device family and the parameters that may stand after `?` in a device unit's name.
#pragma once

#include "core/registry.h"
#include "gpu_bridge/kernels/launch.h"

namespace mmafuzz {

class DeviceChild;

struct DeviceParameters {
  uint64_t placement = 0;  ///< another one: other rows, columns and neighbours in the tiles
  WgmmaModifiers wgmma;
};

/// "placement=3,scale_d=0": refused with what is allowed.
Result<DeviceParameters> parse_device_parameters(std::string_view text, TileFamily family);

/// The family over a device child (tests give it a false one).
std::unique_ptr<Family> make_device_family(std::shared_ptr<DeviceChild> child);

}  // namespace mmafuzz
