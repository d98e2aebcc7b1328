// The matrix instructions that device units run: name, op, tile shape, the architectures that have each, and the model
// that claims to describe it.
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
  unsigned archs = 0;  ///< architectures that have it: bits of namespace arch
};

/// All instructions, in the order of the launch tables of kernels/. An index counts from 0.
const std::vector<Instruction>& instructions();

/// The format of a PTX type name: "f16" is fp16, "ue8m0" is e8m0.
Format format_of_type(const std::string& type);

/// The index of a name in instructions(), -1 if there is none.
int find_instruction(std::string_view name);

/// The bit (namespace arch) of a compute capability; 0 for those without CUDA kernels, which are all but 7.5, 8.0, 8.6,
/// 8.9, 9.0, 10.0 and 12.0.
unsigned arch_of_capability(int major, int minor);

/// The name of the model unit that claims to describe an instruction on an architecture (one bit); empty for integers,
/// and where the architecture lacks the instruction or no source describes it.
std::string claimed_model(const Instruction& instruction, unsigned arch);

}  // namespace mmafuzz
