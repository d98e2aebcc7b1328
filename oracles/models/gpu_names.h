// The names by which people know GPUs, and the architectures whose rows describe them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mmafuzz {

struct GpuName {
  const char *name, *arch;  ///< "h100", "hopper": the latter is ModelRow::arch
};

/// All names, grouped by architecture in the order of the rows: NVIDIA's from Volta on, then AMD's. The first name of
/// an architecture stands for it (gpu_of_unit). The table of evidence in docs/units.md, which ci/pages writes, lists
/// the same names in this order.
const std::vector<GpuName>& gpu_names();

/// The first GPU of the architecture that a unit's name has, "v100" of "model:volta/..."; nullptr of units of other
/// families, and of architectures that have no GPU here, as x86.
const char* gpu_of_unit(const std::string& unit);

/// The architecture of a GPU's name, "hopper" of "h100"; nullptr of a name that is not listed.
const char* arch_of_gpu(std::string_view name);

}  // namespace mmafuzz
