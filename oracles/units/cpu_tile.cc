// One element of a product of AMX tiles, in the shape of the operands of one dot: a row of a, a column of b, c. Linux
// lets a program use tiles once it has asked (arch_prctl, ARCH_REQ_XCOMP_PERM).
#include "oracles/units/cpu_instructions.h"

#if defined(__x86_64__) && defined(__linux__)
#include <asm/prctl.h>
#include <cpuid.h>
#include <sys/syscall.h>

#include <algorithm>
#endif

namespace mmafuzz {
namespace {

#if defined(__x86_64__) && defined(__linux__)

/// Whether Linux permits tiles to this process; the first call asks.
bool tiles_are_permitted() {
  constexpr int request_permission = 0x1023, tile_data = 18;  // Linux, Documentation/arch/x86/xstate.rst
  static const bool permitted = syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  return permitted;
}

// Where CPUID's leaf 7 says what the CPU has ([SDM] vol. 2, CPUID).
enum class Leaf7 { edx_of_subleaf_0, eax_of_subleaf_1 };
bool has_bit(Leaf7 place, int bit) {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const bool in_edx = place == Leaf7::edx_of_subleaf_0;
  return __get_cpuid_count(7, in_edx ? 0 : 1, &eax, &ebx, &ecx, &edx) && ((in_edx ? edx : eax) >> bit & 1);
}
bool has_tiles() { return has_bit(Leaf7::edx_of_subleaf_0, 24) && tiles_are_permitted(); }
bool has_amx_bf16() { return has_bit(Leaf7::edx_of_subleaf_0, 22) && has_tiles(); }
bool has_amx_int8() { return has_bit(Leaf7::edx_of_subleaf_0, 25) && has_tiles(); }
bool has_amx_fp16() { return has_bit(Leaf7::eax_of_subleaf_1, 21) && has_tiles(); }

/// What LDTILECFG reads ([SDM] vol. 1, 18.2): c is tile 0, one element; a tile 1, one row; b tile 2, one column.
struct alignas(64) TileConfiguration {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t bytes_of_row[16] = {4, 64, 4};
  uint8_t rows[16] = {1, 1, 16};
};
static_assert(sizeof(TileConfiguration) == 64);

// A whole dot by one instruction, `step` products at a time: a's row and b's column are 64 bytes each, 16 dwords of
// step / 16 elements.
#define MMAFUZZ_TILE(name, instruction, Element)                                                            \
  __attribute__((target("amx-tile,amx-bf16,amx-int8"))) uint64_t name(const DotOperands& in) {              \
    constexpr int step = 64 / sizeof(Element);                                                              \
    static const TileConfiguration configuration;                                                           \
    uint32_t c = static_cast<uint32_t>(in.c);                                                               \
    for (int first = 0; first < in.k; first += step) {                                                      \
      alignas(64) Element a[step] = {}, b[step] = {};                                                       \
      for (int i = 0; i < std::min(step, in.k - first); ++i) {                                              \
        a[i] = static_cast<Element>(in.a[first + i]);                                                       \
        b[i] = static_cast<Element>(in.b[first + i]);                                                       \
      }                                                                                                     \
      asm volatile(                                                                                         \
          "ldtilecfg %[configuration]\n\t"                                                                  \
          "tileloadd (%[c], %[row]), %%tmm0\n\ttileloadd (%[a], %[row]), %%tmm1\n\t"                        \
          "tileloadd (%[b], %[row]), %%tmm2\n\t" instruction                                                \
          "\n\ttilestored %%tmm0, (%[c], %[row])\n\t"                                                       \
          "tilerelease"                                                                                     \
          :                                                                                                 \
          : [configuration] "m"(configuration), [a] "r"(a), [b] "r"(b), [c] "r"(&c), [row] "r"(uint64_t{4}) \
          : "memory");                                                                                      \
    }                                                                                                       \
    return c;                                                                                               \
  }

MMAFUZZ_TILE(tdpbf16ps, "tdpbf16ps %%tmm2, %%tmm1, %%tmm0", uint16_t)
MMAFUZZ_TILE(tdpfp16ps, ".byte 0xc4, 0xe2, 0x6b, 0x5c, 0xc1", uint16_t)  // same operands; GCC 12 has no mnemonic
MMAFUZZ_TILE(tdpbssd, "tdpbssd %%tmm2, %%tmm1, %%tmm0", uint8_t)
MMAFUZZ_TILE(tdpbsud, "tdpbsud %%tmm2, %%tmm1, %%tmm0", uint8_t)
MMAFUZZ_TILE(tdpbusd, "tdpbusd %%tmm2, %%tmm1, %%tmm0", uint8_t)
MMAFUZZ_TILE(tdpbuud, "tdpbuud %%tmm2, %%tmm1, %%tmm0", uint8_t)

#undef MMAFUZZ_TILE
#define MMAFUZZ_TILE_RUN(function) function

#else
bool has_amx_bf16() { return false; }
bool has_amx_int8() { return false; }
bool has_amx_fp16() { return false; }
#define MMAFUZZ_TILE_RUN(function) nullptr
#endif

}  // namespace

const std::vector<CpuDotInstruction>& cpu_tile_instructions() {
  constexpr const char *bf16_feature = "AMX-BF16 that programs may use",
                       *int8_feature = "AMX-INT8 that programs may use",
                       *fp16_feature = "AMX-FP16 that programs may use";
  static const std::vector<CpuDotInstruction> all = {
      {"cpu:tdpbf16ps.f32.bf16.bf16.f32", "tdpbf16ps, an element of a tile of bf16 products", has_amx_bf16,
       bf16_feature, "bf16", "bf16", "fp32", "model:x86/tdpbf16ps.k32.f32.bf16.bf16.f32", MMAFUZZ_TILE_RUN(tdpbf16ps)},
      {"cpu:tdpfp16ps.f32.f16.f16.f32", "tdpfp16ps, an element of a tile of fp16 products", has_amx_fp16, fp16_feature,
       "fp16", "fp16", "fp32", "model:x86/tdpfp16ps.k32.f32.f16.f16.f32", MMAFUZZ_TILE_RUN(tdpfp16ps)},
      {"cpu:tdpbssd.s32.s8.s8.s32", "tdpbssd, an element of a tile of s8 products", has_amx_int8, int8_feature, "s8",
       "s8", "s32", "integer", MMAFUZZ_TILE_RUN(tdpbssd)},
      {"cpu:tdpbsud.s32.s8.u8.s32", "tdpbsud, an element of a tile of s8 and u8 products", has_amx_int8, int8_feature,
       "s8", "u8", "s32", "integer", MMAFUZZ_TILE_RUN(tdpbsud)},
      {"cpu:tdpbusd.s32.u8.s8.s32", "tdpbusd, an element of a tile of u8 and s8 products", has_amx_int8, int8_feature,
       "u8", "s8", "s32", "integer", MMAFUZZ_TILE_RUN(tdpbusd)},
      {"cpu:tdpbuud.s32.u8.u8.s32", "tdpbuud, an element of a tile of u8 products", has_amx_int8, int8_feature, "u8",
       "u8", "s32", "integer", MMAFUZZ_TILE_RUN(tdpbuud)}};
#undef MMAFUZZ_TILE_RUN
  return all;
}

}  // namespace mmafuzz
