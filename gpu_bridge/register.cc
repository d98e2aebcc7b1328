#include "gpu_bridge/register.h"

#include "gpu_bridge/device_units.h"
#include "gpu_bridge/device_child.h"

namespace mmafuzz {

void add_device_units(Registry& registry) { registry.add(make_device_family(make_device_child())); }

}  // namespace mmafuzz
