// The device family and the parameters that may stand after `?` in a device unit's name.
#pragma once

#include "core/registry.h"
#include "gpu_bridge/tiles/launch.h"

namespace mmafuzz {

class DeviceChild;
struct DeviceInfo;

struct DeviceParameters {
  uint64_t placement = 0;  ///< another one: other rows, columns and neighbours in the tiles
  WgmmaModifiers wgmma;
};

/// "placement=3,scale_d=0": refused with what is allowed.
Result<DeviceParameters> parse_device_parameters(std::string_view text, TileFamily family);

/// Matrix instructions of NVIDIA GPUs that are not built here; `list -v` shows them, and who names one is told why.
struct OutOfScope {
  const char* instruction;  ///< how its name begins
  const char* what;
};
inline constexpr OutOfScope out_of_scope[] = {
    {"tcgen05", "fifth-generation tensor cores (sm_100a): operands in tensor memory, which no kernel here allocates"},
    {"mma.m8n8k32", "4-bit integers"},
    {"mma.m16n8k64.s32", "4-bit integers"},
    {"mma.m8n8k128", "1-bit integers"},
};

/// The matrix instructions over a device child (tests give it a false one).
std::unique_ptr<Family> make_device_family(std::shared_ptr<DeviceChild> child);
/// The CUDA-core instructions and cuda:bulk; both families may share a child.
std::unique_ptr<Family> make_core_family(std::shared_ptr<DeviceChild> child);

/// `except_nan:<unit>`, for claims that do not hold of NaN operands.
std::unique_ptr<Family> make_except_nan_family();
/// `relu:<unit>`, for instructions with .relu.
std::unique_ptr<Family> make_relu_family();

/// Dots and matrix products by cuBLAS.
std::unique_ptr<Family> make_cublas_family(std::shared_ptr<DeviceChild> child);

/// "sm_75 (Tesla T4) does not have this instruction".
std::string device_lacks(const DeviceInfo& device);

}  // namespace mmafuzz
