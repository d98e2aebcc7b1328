// The families of device units, and the parameters after `?` in the name of a matrix instruction's unit.
#pragma once

#include "core/registry.h"
#include "gpu_bridge/tiles/launch.h"

namespace mmafuzz {

class DeviceChild;
struct DeviceInfo;

struct DeviceParameters {
  uint64_t placement = 0;  ///< number of a placement of cases in tiles (tile_placement.h)
  WgmmaModifiers wgmma;
};

/// Parses "placement=3,scale_d=0". The refusal lists the parameters that the family takes.
Result<DeviceParameters> parse_device_parameters(std::string_view text, TileFamily family);

/// Matrix instructions of NVIDIA GPUs that are not built here; `list -v` shows them, and who names one is told why.
struct OutOfScope {
  const char* instruction;  ///< beginning of its name
  const char* what;         ///< what the instruction computes or needs, as text
};
inline constexpr OutOfScope out_of_scope[] = {
    {"tcgen05", "fifth-generation tensor cores (sm_100a): operands in tensor memory, which no kernel here allocates"},
    {"mma.m8n8k32", "4-bit integers"},
    {"mma.m16n8k64.s32", "4-bit integers"},
    {"mma.m8n8k128", "1-bit integers"},
};

/// The matrix instructions over a device child (tests pass a fake one).
std::unique_ptr<Family> make_device_family(std::shared_ptr<DeviceChild> child);
/// The CUDA-core instructions and cuda:bulk. Families may share a child.
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
