#include "gpu_bridge/register.h"

#include "gpu_bridge/families/device_units.h"
#include "gpu_bridge/device/device_child.h"

namespace mmafuzz {

void add_device_units(Registry& registry) { add_device_units(registry, make_device_child()); }

void add_device_units(Registry& registry, const std::shared_ptr<DeviceChild>& child) {
  registry.add(make_core_family(child));
  registry.add(make_device_family(child));
  registry.add(make_cublas_family(child));
  registry.add(make_except_nan_family());
  registry.add(make_relu_family());
}

}  // namespace mmafuzz
