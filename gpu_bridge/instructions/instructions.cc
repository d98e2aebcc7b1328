#include "gpu_bridge/instructions/instructions.h"

#include "core/unit_name.h"

namespace mmafuzz {

Format format_of_type(const std::string& type) {
  if (type == "f64" || type == "f32" || type == "f16") return format("fp" + type.substr(1));
  return format(type == "ue8m0" ? "e8m0" : type);
}

namespace {

Instruction make(const std::string& prefix, const TileShape& shape, const std::string& d, const std::string& a,
                 const std::string& b, const std::string& c, unsigned archs, const std::string& scale = "",
                 int scale_block = 0) {
  Instruction i;
  i.name = prefix + ".m" + std::to_string(shape.m) + "n" + std::to_string(shape.n) + "k" +
           std::to_string(shape.b_length()) + "." + d + "." + a + "." + b + "." + c +
           (scale.empty() ? "" : "." + scale);
  i.op.kind = OpKind::dot;
  i.op.a = format_of_type(a);
  i.op.b = format_of_type(b);
  i.op.c = format_of_type(c);
  i.op.d = format_of_type(d);
  i.op.k = shape.k;
  if (scale_block) {
    i.op.scale_a = i.op.scale_b = format_of_type(scale);
    i.op.scale_block = scale_block;
  }
  i.shape = shape;
  i.archs = archs;
  return i;
}

}  // namespace

const std::vector<Instruction>& instructions() {
  static const std::vector<Instruction> all = {
#define ROW(m, n, k, D, A, B, C, archs) make("mma", mma_shape(m, n, k, #D, #A, #B, #C), #D, #A, #B, #C, arch::archs),
      MMAFUZZ_MMA(ROW)
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs) \
  make("mma.kind::f8f6f4", mma_shape(m, n, k, #D, #A, #B, #C), #D, #A, #B, #C, arch::archs),
          MMAFUZZ_F8F6F4(ROW)
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs)                                                                             \
  make("mma.kind::mxf8f6f4.block32", mma_shape(m, n, k, #D, #A, #B, #C, /*scales=*/1), #D, #A, #B, #C, arch::archs, \
       "ue8m0", 32),
              MMAFUZZ_MXF8F6F4(ROW)
#undef ROW
// `size` is for the CUDA kernels alone.
#define SCALED(kind, type, block, size, archs)                                                                    \
  make("mma.kind::" #kind ".block" #block, mma_shape(16, 8, 64, "f32", "e2m1", "e2m1", "f32", 64 / block), "f32", \
       "e2m1", "e2m1", "f32", arch::archs, #type, block),
                  MMAFUZZ_MXF4NVF4(SCALED)
#undef SCALED
#define ROW(m, n, k, D, A, B, C, archs) \
  make("mma.sp", sparse_shape(mma_shape(m, n, k, #D, #A, #B, #C)), #D, #A, #B, #C, arch::archs),
                      MMAFUZZ_MMA_SPARSE(ROW)
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs) \
  make("wgmma", with_family(TileFamily::wgmma, mma_shape(m, n, k, #D, #A, #B, #C)), #D, #A, #B, #C, arch::archs),
                          MMAFUZZ_WGMMA(ROW)
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs)                                                                              \
  make("wgmma.sp", sparse_shape(with_family(TileFamily::wgmma, mma_shape(m, n, k, #D, #A, #B, #C))), #D, #A, #B, #C, \
       arch::archs),
                              MMAFUZZ_WGMMA_SPARSE(ROW)
#undef ROW
#define ROW(m, n, k, D, A, B, C, archs) \
  make("wmma", with_family(TileFamily::wmma, mma_shape(m, n, k, #D, #A, #B, #C)), #D, #A, #B, #C, arch::archs),
                                  MMAFUZZ_WMMA(ROW)
#undef ROW
  };
  return all;
}

int find_instruction(std::string_view name) {
  const Instruction* row = entry_named(instructions(), name);
  return row ? static_cast<int>(row - instructions().data()) : -1;
}

unsigned arch_of_capability(int major, int minor) {
  switch (10 * major + minor) {
    case 75: return arch::sm75;
    case 80: return arch::sm80;
    case 86: return arch::sm86;
    case 89: return arch::sm89;
    case 90: return arch::sm90;
    case 100: return arch::sm100;
    case 120: return arch::sm120;
    default: return 0;
  }
}

std::string claimed_model(const Instruction& i, unsigned device_arch) {
  if ((i.archs & device_arch) == 0 || i.op.d.fields().integer) return "";
  const char* family = device_arch == arch::sm75    ? "turing"
                       : device_arch == arch::sm89  ? "ada"
                       : device_arch == arch::sm90  ? "hopper"
                       : device_arch == arch::sm100 ? "blackwell"
                       : device_arch == arch::sm120 ? "rtx_blackwell"
                                                    : "ampere";
  const bool fp64 = i.shape.operand_bits == 64;
  std::string name = i.name;
  if (i.shape.neighbours && device_arch != arch::sm90) return "";  // sparse: no source, no other GPU was measured
  // No source describes these two: oracles/models/nvidia.cc has no rows of them.
  if (fp64 && i.shape.m == 16 && device_arch == arch::sm120) return "";
  if (i.name.starts_with("mma.kind::f8f6f4") && device_arch == arch::sm100) return "";
  // wmma is compiled to mma of the type's maximum k, but wmma of tf32 to two steps of k = 4 (HMMA.1684).
  if (i.shape.family == TileFamily::wmma) {
    const std::string types = name.substr(name.find('.', 5));
    const std::string shape = fp64                         ? "m8n8k4"
                              : i.shape.operand_bits == 32 ? "m16n8k4"
                              : device_arch == arch::sm75  ? "m16n8k8"
                                                           : "m16n8k16";
    name = "mma." + shape + types;
  }
  return std::string("model:") + family + "/" + name;
}

}  // namespace mmafuzz
