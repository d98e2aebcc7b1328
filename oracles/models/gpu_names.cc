#include "oracles/models/gpu_names.h"

#include "core/unit_name.h"

namespace mmafuzz {

// GPUs of one compute capability (NVIDIA: CUDA C++ Programming Guide, "Compute Capabilities") or gfx target (AMD: ROCm,
// "Accelerator and GPU hardware specifications") have the same matrix unit.
const std::vector<GpuName>& gpu_names() {
  static const std::vector<GpuName> all = [] {
    std::vector<GpuName> names;
    const auto add = [&](const char* arch, std::initializer_list<const char*> gpus) {
      for (const char* gpu : gpus) names.push_back({gpu, arch});
    };
    add("volta", {"v100"});
    add("turing", {"t4"});
    add("ampere", {"a100", "a800", "a2", "a10", "a30", "a40", "rtx3090"});
    add("ada", {"ada", "l4", "l40", "l40s", "rtx4090"});
    add("hopper", {"h100", "h200", "h800", "h20", "gh200"});
    add("blackwell", {"b100", "b200", "gb200"});
    add("rtx_blackwell", {"rtx5090"});
    add("cdna1", {"mi100"});
    add("cdna2", {"mi210", "mi250", "mi250x"});
    add("cdna3", {"mi300a", "mi300x", "mi325x"});
    add("rdna3", {"w7900", "rx7900xtx", "radeon8060s"});
    add("rdna4", {"r9700", "rx9070xt"});
    return names;
  }();
  return all;
}

const char* gpu_of_unit(const std::string& unit) {
  const UnitName name(unit);
  const std::string arch = name.backend == "model" ? name.path.substr(0, name.path.find('/')) : "";
  for (const GpuName& gpu : gpu_names())
    if (arch == gpu.arch) return gpu.name;
  return nullptr;
}

const char* arch_of_gpu(std::string_view name) {
  const GpuName* gpu = entry_named(gpu_names(), name);
  return gpu ? gpu->arch : nullptr;
}

}  // namespace mmafuzz
