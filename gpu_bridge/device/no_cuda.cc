// What a build without CUDA has in place of a device.
#include "gpu_bridge/device/device_backend.h"

namespace mmafuzz {

const char* cuda_missing() { return "this build has no device units"; }
Result<std::unique_ptr<DeviceBackend>> open_device() { return declined(cuda_missing()); }

}  // namespace mmafuzz
