// Tile instructions of x86 (AMX) as dots: one element of a tile product. How they are asked, and what they equal.
#pragma once

#include <memory>
#include <vector>

#include "core/registry.h"

namespace mmafuzz {

struct CpuTileInstruction {
  const char* name;     ///< of the unit: instruction, then the formats of d, a, b and c
  const char* summary;  ///< instruction and what it adds
  bool (*present)();
  const char* feature;
  const char *a, *b, *c;  ///< formats; d has that of c
  const char* equals;     ///< the unit that it claims to equal
  /// Products of any number, in whole tiles filled up with zeros.
  uint64_t (*run)(const DotOperands& in);
};

const std::vector<CpuTileInstruction>& cpu_tile_instructions();

Result<std::unique_ptr<Unit>> bind_cpu_tile(const CpuTileInstruction& instruction, const Op& op);

}  // namespace mmafuzz
