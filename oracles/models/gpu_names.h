// The names by which people know GPUs, and whose rows describe them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mmafuzz {

struct GpuName {
  const char *name, *arch;  ///< "h100", "hopper"
};

/// By architecture, then as they came. docs/units.md lists the same.
const std::vector<GpuName>& gpu_names();

/// The first GPU of the architecture of a row's unit, "model:volta/..."; nullptr of others and where none has a name.
const char* gpu_of_unit(const std::string& unit);

/// nullptr for a GPU that no rows describe.
const char* arch_of_gpu(std::string_view name);

}  // namespace mmafuzz
