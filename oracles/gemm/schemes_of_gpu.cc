#include "oracles/gemm/schemes_of_gpu.h"

#include <array>

#include "oracles/gemm/ozaki_unit.h"
#include "oracles/models/model_rows.h"

namespace mmafuzz::gemm {
namespace {

/// Instructions in the order of preference: Hopper's `mma` of FP8 is emulated, its `wgmma` is not.
constexpr std::array newest_first = {"tcgen05", "wgmma", "mma", "mfma", "wmma"};

/// The row of products in a format, summed in fp32; nullptr where the GPU has none.
const ModelRow* row_of(std::string_view arch, const std::string& operands) {
  for (const char* instruction : newest_first) {
    const ModelRow* best = nullptr;
    for (const ModelRow& row : model_rows()) {
      const bool fits = row.arch == arch && row.instruction.starts_with(instruction) && !row.op.has_scales() &&
                        row.op.a.name() == operands && row.op.b == row.op.a && row.op.c.name() == "fp32" &&
                        row.op.d.name() == "fp32";
      if (fits && (!best || row.op.k > best->op.k)) best = &row;
    }
    if (best) return best;
  }
  return nullptr;
}

/// All generations with rows but Volta multiply s8 (PTX ISA: mma of s8 from sm_75 on; AMD: mfma_i32 and wmma_i32 of
/// i8).
bool has_integers(std::string_view arch) { return arch != "volta"; }

}  // namespace

std::vector<std::string> schemes_on(std::string_view arch, const std::string& kind) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& scheme, const std::string& format, const std::string& settings) {
    if (format == "s8") {
      if (has_integers(arch)) all.push_back(scheme + kind + ".s8?" + settings + "on=integer");
    } else if (const ModelRow* row = row_of(arch, format)) {
      all.push_back(scheme + kind + "." + format + "?" + settings + "on=model:" + row->name());
    }
  };
  for (const std::string& slice : ozaki_slices()) add("ozaki:", slice, "fast=1,");
  for (const char* narrow : {"s8", "e4m3"}) add("ozaki2:", narrow, "");
  return all;
}

}  // namespace mmafuzz::gemm
