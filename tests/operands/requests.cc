// Writes sweeps to generate the operands of: one for each different tile shape and formats of the instructions, with
// parents, so that every way to draw is taken. The file is what generate.cc and the device code read.
//   requests FILE TILES
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

#include "gpu_bridge/sweep/host_sweep.h"
#include "gpu_bridge/instructions/instructions.h"
#include "oracles/models/model_rows.h"

using namespace mmafuzz;

namespace {

constexpr unsigned archs[] = {arch::sm120, arch::sm100, arch::sm90, arch::sm89, arch::sm80, arch::sm75};

/// What decides the operands, but for the seed and the parents.
std::string key_of(const Instruction& i) {
  const TileShape& s = i.shape;
  return std::to_string(int(s.family)) + " " + std::to_string(s.m) + " " + std::to_string(s.n) + " " +
         std::to_string(s.k) + " " + std::to_string(s.operand_bits) + " " + std::to_string(s.c_bits) + " " +
         std::to_string(s.d_bits) + " " + std::to_string(s.scales) + " " + std::to_string(s.matrices) + " " +
         std::to_string(s.operand_bits <= 8 ? 0 : i.op.a.fields().exponent_bits);
}

void write(std::ofstream& to, const void* data, uint64_t bytes) {
  to.write(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  to.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
}

/// Five dots of each tile: no bins are needed to draw near them.
std::vector<SweepDot> parents_from(const SweepRequest& request) {
  std::vector<uint64_t> numbers;
  for (uint64_t tile = 0; tile < request.tiles; ++tile)
    for (uint64_t cell = 0; cell < 5; ++cell)
      numbers.push_back(tile * static_cast<uint64_t>(request.shape.cells()) + cell * 7);
  return dots_of(request, {}, numbers);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::ofstream to(argv[1], std::ios::binary);
  std::set<std::string> seen;
  for (size_t index = 0; index < instructions().size(); ++index) {
    const Instruction& i = instructions()[index];
    if (!seen.insert(key_of(i)).second) continue;
    SweepRequest r;
    r.shape = i.shape;
    r.instruction = static_cast<int32_t>(index);
    r.seed = 1;
    if (i.op.d.fields().integer) {
      r.model.a = i.op.a.fields();
      r.model.b = i.op.b.fields();
      r.model.c = i.op.c.fields();
      r.model.d = i.op.d.fields();
      r.model.k = i.op.k;
    } else {
      for (const unsigned on : archs)
        if (const std::string model = claimed_model(i, on); !model.empty()) {
          r.model = find_model_row(model.substr(6))->model;
          break;
        }
      if (r.model.k == 0) continue;  // claimed nowhere
    }
    r.tiles = 8;
    const std::vector<SweepDot> parents = parents_from(r);
    r.first_tile = 1000;
    r.tiles = static_cast<uint64_t>(std::atoll(argv[2]));
    r.parents = static_cast<uint32_t>(parents.size());
    write(to, i.name.data(), i.name.size());
    write(to, &r, sizeof r);
    write(to, parents.data(), parents.size() * sizeof(SweepDot));
  }
  // Panels, whose steps are compared too; the rows that claim their shapes.
  for (const auto& [name, row] :
       {std::pair{"f16_f32", "hopper/mma.m16n8k16.f32.f16.f16.f32"},
        {"f16_f16", "hopper/mma.m16n8k16.f16.f16.f16.f16"},
        {"bf16_f32", "hopper/mma.m16n8k16.f32.bf16.bf16.f32"},
        {"tf32_f32", "hopper/mma.m16n8k8.f32.tf32.tf32.f32"},
        {"e4m3_e5m2_f32", "hopper/mma.m16n8k32.f32.e4m3.e5m2.f32"},
        {"e4m3_e2m1_mx", "rtx_blackwell/mma.kind::mxf8f6f4.block32.m16n8k32.f32.e4m3.e2m1.f32.ue8m0"},
        {"e2m1_nvfp4", "rtx_blackwell/mma.kind::mxf4nvf4.block16.m16n8k64.f32.e2m1.e2m1.f32.ue4m3"},
        {"s8_s32", "integers/mma.m16n8k32.s32.s8.s8.s32"},
        {"f64_f64", "hopper/mma.m16n8k16.f64.f64.f64.f64"}}) {
    SweepRequest r;
    const std::string name_of_row = row, instruction = name_of_row.substr(name_of_row.find('/') + 1);
    const Instruction& i = instructions()[static_cast<size_t>(find_instruction(instruction))];
    if (i.op.d.fields().integer) {
      r.model.a = r.model.b = i.op.a.fields();
      r.model.c = r.model.d = i.op.d.fields();
      r.model.k = i.op.k;
    } else {
      r.model = find_model_row(row)->model;
    }
    r.shape = i.shape;
    r.seed = 1;
    r.tiles = 8;
    const std::vector<SweepDot> parents = parents_from(r);
    r.first_tile = 1000;
    r.tiles = 8;  // panels
    r.parents = static_cast<uint32_t>(parents.size());
    const std::string title = std::string("panel ") + name;
    write(to, title.data(), title.size());
    write(to, &r, sizeof r);
    write(to, parents.data(), parents.size() * sizeof(SweepDot));
  }
  std::printf("%zu sweeps\n", seen.size());
  return to.good() ? 0 : 1;
}
