// The matrix instructions that device units run: name, op, tile shape, where each exists, and the model that claims to
// describe it.
#pragma once

#include <string>
#include <vector>

#include "core/op.h"
#include "gpu_bridge/instructions/instruction_shapes.h"

namespace mmafuzz {

struct Instruction {
  std::string name;  ///< what follows `cuda:`, e.g. "mma.m16n8k16.f32.f16.f16.f32"
  Op op;             ///< formats, k of one instruction, scales
  TileShape shape;
  unsigned archs = 0;  ///< bits of namespace arch
};

/// In the order of the kernels' launch tables.
const std::vector<Instruction>& instructions();

/// The format of a PTX type's name: "f16" is fp16.
Format format_of_type(const std::string& type);

/// The index of a name in instructions(), -1 if there is none.
int find_instruction(std::string_view name);

/// The architecture bit of a compute capability, 0 if kernels are built for none that runs on
/// it: 7.5, 8.0, 8.6, 8.9, 9.0, 10.0, 12.0.
unsigned arch_of_capability(int major, int minor);

/// The model unit that claims to describe an instruction on an architecture (one bit); empty where no source describes
/// one.
std::string claimed_model(const Instruction& instruction, unsigned arch);

}  // namespace mmafuzz
