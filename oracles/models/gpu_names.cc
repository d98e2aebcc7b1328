#include "oracles/models/gpu_names.h"

#include "core/unit_name.h"

namespace mmafuzz {
namespace {

// One compute capability (NVIDIA: CUDA C++ Programming Guide, "Compute Capabilities") or gfx target (AMD: ROCm,
// "Accelerator and GPU hardware specifications") is one matrix unit.
constexpr GpuName names[] = {{"v100", "volta"},
                             {"t4", "turing"},
                             {"a100", "ampere"},
                             {"a800", "ampere"},
                             {"a2", "ampere"},
                             {"a10", "ampere"},
                             {"a30", "ampere"},
                             {"a40", "ampere"},
                             {"rtx3090", "ampere"},
                             {"ada", "ada"},
                             {"l4", "ada"},
                             {"l40", "ada"},
                             {"l40s", "ada"},
                             {"rtx4090", "ada"},
                             {"h100", "hopper"},
                             {"h200", "hopper"},
                             {"h800", "hopper"},
                             {"h20", "hopper"},
                             {"gh200", "hopper"},
                             {"b100", "blackwell"},
                             {"b200", "blackwell"},
                             {"gb200", "blackwell"},
                             {"rtx5090", "rtx_blackwell"},
                             {"mi100", "cdna1"},
                             {"mi210", "cdna2"},
                             {"mi250", "cdna2"},
                             {"mi250x", "cdna2"},
                             {"mi300a", "cdna3"},
                             {"mi300x", "cdna3"},
                             {"mi325x", "cdna3"},
                             {"w7900", "rdna3"},
                             {"rx7900xtx", "rdna3"},
                             {"radeon8060s", "rdna3"},
                             {"r9700", "rdna4"},
                             {"rx9070xt", "rdna4"}};

}  // namespace

std::span<const GpuName> gpu_names() { return names; }

const char* gpu_of_unit(const std::string& unit) {
  const UnitName name(unit);
  const std::string arch = name.backend == "model" ? name.path.substr(0, name.path.find('/')) : "";
  for (const GpuName& gpu : names)
    if (arch == gpu.arch) return gpu.name;
  return nullptr;
}

const char* arch_of_gpu(std::string_view name) {
  for (const GpuName& gpu : names)
    if (name == gpu.name) return gpu.arch;
  return nullptr;
}

}  // namespace mmafuzz
