// x86's instructions between numbers and integers, and its comparisons that set the processor's flags.
#include <bit>

#include "oracles/units/cpu_instructions.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mmafuzz {
namespace {

#if defined(__x86_64__)

bool has_sse2_integers() { return true; }
bool has_sse4_1_rounding() { return __builtin_cpu_supports("sse4.1"); }
bool has_avx512f_integers() { return __builtin_cpu_supports("avx512f"); }

#define MMAFUZZ_OUT [r] "=&r"(result)

// A number to an integer, and an integer to a number.
#define MMAFUZZ_TO_INTEGER(name, instruction, Integer, Float, Bits)          \
  CpuAnswer name(uint32_t mode, const uint64_t* operands) {                  \
    const Float x = std::bit_cast<Float>(static_cast<Bits>(operands[0]));    \
    Integer result;                                                          \
    MMAFUZZ_UNDER_MXCSR(instruction " %[x], %[r]", MMAFUZZ_OUT, [x] "x"(x)); \
    return {result, flags_of_mxcsr(after)};                                  \
  }
#define MMAFUZZ_TO_FLOAT(name, instruction, middle, Integer, Float, Bits)                   \
  CpuAnswer name(uint32_t mode, const uint64_t* operands) {                                 \
    const Integer x = static_cast<Integer>(operands[0]);                                    \
    Float result = 0;                                                                       \
    MMAFUZZ_UNDER_MXCSR(instruction " %[x], " middle "%[r]", [r] "+x"(result), [x] "r"(x)); \
    return {std::bit_cast<Bits>(result), flags_of_mxcsr(after)};                            \
  }

MMAFUZZ_TO_INTEGER(cvtss2si_32, "cvtss2si", uint32_t, float, uint32_t)
MMAFUZZ_TO_INTEGER(cvtss2si_64, "cvtss2si", uint64_t, float, uint32_t)
MMAFUZZ_TO_INTEGER(cvtsd2si_32, "cvtsd2si", uint32_t, double, uint64_t)
MMAFUZZ_TO_INTEGER(cvtsd2si_64, "cvtsd2si", uint64_t, double, uint64_t)
MMAFUZZ_TO_INTEGER(cvttss2si_32, "cvttss2si", uint32_t, float, uint32_t)
MMAFUZZ_TO_INTEGER(cvttss2si_64, "cvttss2si", uint64_t, float, uint32_t)
MMAFUZZ_TO_INTEGER(cvttsd2si_32, "cvttsd2si", uint32_t, double, uint64_t)
MMAFUZZ_TO_INTEGER(cvttsd2si_64, "cvttsd2si", uint64_t, double, uint64_t)
MMAFUZZ_TO_INTEGER(vcvtss2usi_32, "vcvtss2usi", uint32_t, float, uint32_t)
MMAFUZZ_TO_INTEGER(vcvtss2usi_64, "vcvtss2usi", uint64_t, float, uint32_t)
MMAFUZZ_TO_INTEGER(vcvtsd2usi_32, "vcvtsd2usi", uint32_t, double, uint64_t)
MMAFUZZ_TO_INTEGER(vcvtsd2usi_64, "vcvtsd2usi", uint64_t, double, uint64_t)
MMAFUZZ_TO_INTEGER(vcvttss2usi_32, "vcvttss2usi", uint32_t, float, uint32_t)
MMAFUZZ_TO_INTEGER(vcvttss2usi_64, "vcvttss2usi", uint64_t, float, uint32_t)
MMAFUZZ_TO_INTEGER(vcvttsd2usi_32, "vcvttsd2usi", uint32_t, double, uint64_t)
MMAFUZZ_TO_INTEGER(vcvttsd2usi_64, "vcvttsd2usi", uint64_t, double, uint64_t)
MMAFUZZ_TO_FLOAT(cvtsi2ss_32, "cvtsi2ssl", "", uint32_t, float, uint32_t)
MMAFUZZ_TO_FLOAT(cvtsi2ss_64, "cvtsi2ssq", "", uint64_t, float, uint32_t)
MMAFUZZ_TO_FLOAT(cvtsi2sd_32, "cvtsi2sdl", "", uint32_t, double, uint64_t)
MMAFUZZ_TO_FLOAT(cvtsi2sd_64, "cvtsi2sdq", "", uint64_t, double, uint64_t)
MMAFUZZ_TO_FLOAT(vcvtusi2ss_32, "vcvtusi2ssl", "%[r], ", uint32_t, float, uint32_t)
MMAFUZZ_TO_FLOAT(vcvtusi2ss_64, "vcvtusi2ssq", "%[r], ", uint64_t, float, uint32_t)
MMAFUZZ_TO_FLOAT(vcvtusi2sd_32, "vcvtusi2sdl", "%[r], ", uint32_t, double, uint64_t)
MMAFUZZ_TO_FLOAT(vcvtusi2sd_64, "vcvtusi2sdq", "%[r], ", uint64_t, double, uint64_t)

// A number to an integral number. The immediate 4 takes the mode from MXCSR, 8 leaves the inexact flag alone.
#define MMAFUZZ_ROUND(name, instruction, immediate, Float, Bits)                                  \
  CpuAnswer name(uint32_t mode, const uint64_t* operands) {                                       \
    const Float x = std::bit_cast<Float>(static_cast<Bits>(operands[0]));                         \
    Float result = 0;                                                                             \
    MMAFUZZ_UNDER_MXCSR(instruction " $" immediate ", %[x], %[r]", [r] "+x"(result), [x] "x"(x)); \
    return {std::bit_cast<Bits>(result), flags_of_mxcsr(after)};                                  \
  }

MMAFUZZ_ROUND(roundss, "roundss", "4", float, uint32_t)
MMAFUZZ_ROUND(roundss_silent, "roundss", "12", float, uint32_t)
MMAFUZZ_ROUND(roundsd, "roundsd", "4", double, uint64_t)
MMAFUZZ_ROUND(roundsd_silent, "roundsd", "12", double, uint64_t)

// Comparisons set ZF, PF and CF as if unsigned integers had been compared; all three where unordered (Intel SDM,
// COMISS).
#define MMAFUZZ_COMPARE(name, instruction, truth, Float, Bits)                                       \
  CpuAnswer name(uint32_t mode, const uint64_t* operands) {                                          \
    const Float x = std::bit_cast<Float>(static_cast<Bits>(operands[0]));                            \
    const Float y = std::bit_cast<Float>(static_cast<Bits>(operands[1]));                            \
    uint8_t zf = 0, pf = 0, cf = 0;                                                                  \
    const uint32_t saved = _mm_getcsr();                                                             \
    uint32_t after = 0;                                                                              \
    asm volatile("ldmxcsr %[mode]\n\t" instruction                                                   \
                 " %[y], %[x]\n\tsetz %[zf]\n\tsetp %[pf]\n\tsetc %[cf]\n\t"                         \
                 "stmxcsr %[after]\n\tldmxcsr %[saved]"                                              \
                 : [zf] "=&q"(zf), [pf] "=&q"(pf), [cf] "=&q"(cf), [after] "=m"(after)               \
                 : [x] "x"(x), [y] "x"(y), [mode] "m"(mode), [saved] "m"(saved)                      \
                 : "cc");                                                                            \
    return {std::bit_cast<Bits>(static_cast<Float>(!pf && (truth) ? 1 : 0)), flags_of_mxcsr(after)}; \
  }

MMAFUZZ_COMPARE(comiss_equal, "comiss", zf, float, uint32_t)
MMAFUZZ_COMPARE(comisd_equal, "comisd", zf, double, uint64_t)
MMAFUZZ_COMPARE(ucomiss_less, "ucomiss", cf && !zf, float, uint32_t)
MMAFUZZ_COMPARE(ucomisd_less, "ucomisd", cf && !zf, double, uint64_t)
MMAFUZZ_COMPARE(ucomiss_less_equal, "ucomiss", cf || zf, float, uint32_t)
MMAFUZZ_COMPARE(ucomisd_less_equal, "ucomisd", cf || zf, double, uint64_t)

#undef MMAFUZZ_OUT
#undef MMAFUZZ_TO_INTEGER
#undef MMAFUZZ_TO_FLOAT
#undef MMAFUZZ_ROUND
#undef MMAFUZZ_COMPARE

#else
bool has_sse2_integers() { return false; }
bool has_sse4_1_rounding() { return false; }
bool has_avx512f_integers() { return false; }
#endif

}  // namespace

const std::vector<CpuScalarInstruction>& cpu_integer_instructions() {
  constexpr auto sse2 = has_sse2_integers, sse4_1 = has_sse4_1_rounding, avx512 = has_avx512f_integers;
#define MMAFUZZ_CVT(to, from, instruction, present, feature, op, function, ...) \
  { "cpu:cvt" to "." from, instruction, present, feature, "convert from=" op, MMAFUZZ_RUN(function), ##__VA_ARGS__ }
  static const std::vector<CpuScalarInstruction> all = {
      MMAFUZZ_CVT(".s32", "f32", "cvtss2si r32", sse2, "x86-64", "fp32 to=s32", cvtss2si_32),
      MMAFUZZ_CVT(".s64", "f32", "cvtss2si r64", sse2, "x86-64", "fp32 to=s64", cvtss2si_64),
      MMAFUZZ_CVT(".s32", "f64", "cvtsd2si r32", sse2, "x86-64", "fp64 to=s32", cvtsd2si_32),
      MMAFUZZ_CVT(".s64", "f64", "cvtsd2si r64", sse2, "x86-64", "fp64 to=s64", cvtsd2si_64),
      MMAFUZZ_CVT("t.s32", "f32", "cvttss2si r32", sse2, "x86-64", "fp32 to=s32", cvttss2si_32, nullptr, true),
      MMAFUZZ_CVT("t.s64", "f32", "cvttss2si r64", sse2, "x86-64", "fp32 to=s64", cvttss2si_64, nullptr, true),
      MMAFUZZ_CVT("t.s32", "f64", "cvttsd2si r32", sse2, "x86-64", "fp64 to=s32", cvttsd2si_32, nullptr, true),
      MMAFUZZ_CVT("t.s64", "f64", "cvttsd2si r64", sse2, "x86-64", "fp64 to=s64", cvttsd2si_64, nullptr, true),
      MMAFUZZ_CVT(".u32", "f32", "vcvtss2usi r32", avx512, "AVX512F", "fp32 to=u32", vcvtss2usi_32),
      MMAFUZZ_CVT(".u64", "f32", "vcvtss2usi r64", avx512, "AVX512F", "fp32 to=u64", vcvtss2usi_64),
      MMAFUZZ_CVT(".u32", "f64", "vcvtsd2usi r32", avx512, "AVX512F", "fp64 to=u32", vcvtsd2usi_32),
      MMAFUZZ_CVT(".u64", "f64", "vcvtsd2usi r64", avx512, "AVX512F", "fp64 to=u64", vcvtsd2usi_64),
      MMAFUZZ_CVT("t.u32", "f32", "vcvttss2usi r32", avx512, "AVX512F", "fp32 to=u32", vcvttss2usi_32, nullptr, true),
      MMAFUZZ_CVT("t.u64", "f32", "vcvttss2usi r64", avx512, "AVX512F", "fp32 to=u64", vcvttss2usi_64, nullptr, true),
      MMAFUZZ_CVT("t.u32", "f64", "vcvttsd2usi r32", avx512, "AVX512F", "fp64 to=u32", vcvttsd2usi_32, nullptr, true),
      MMAFUZZ_CVT("t.u64", "f64", "vcvttsd2usi r64", avx512, "AVX512F", "fp64 to=u64", vcvttsd2usi_64, nullptr, true),
      MMAFUZZ_CVT(".f32", "s32", "cvtsi2ss r32", sse2, "x86-64", "s32 to=fp32", cvtsi2ss_32),
      MMAFUZZ_CVT(".f32", "s64", "cvtsi2ss r64", sse2, "x86-64", "s64 to=fp32", cvtsi2ss_64),
      MMAFUZZ_CVT(".f64", "s32", "cvtsi2sd r32", sse2, "x86-64", "s32 to=fp64", cvtsi2sd_32),
      MMAFUZZ_CVT(".f64", "s64", "cvtsi2sd r64", sse2, "x86-64", "s64 to=fp64", cvtsi2sd_64),
      MMAFUZZ_CVT(".f32", "u32", "vcvtusi2ss r32", avx512, "AVX512F", "u32 to=fp32", vcvtusi2ss_32),
      MMAFUZZ_CVT(".f32", "u64", "vcvtusi2ss r64", avx512, "AVX512F", "u64 to=fp32", vcvtusi2ss_64),
      MMAFUZZ_CVT(".f64", "u32", "vcvtusi2sd r32", avx512, "AVX512F", "u32 to=fp64", vcvtusi2sd_32),
      MMAFUZZ_CVT(".f64", "u64", "vcvtusi2sd r64", avx512, "AVX512F", "u64 to=fp64", vcvtusi2sd_64),
      {"cpu:round_to_integral.f32", "roundss", sse4_1, "SSE4.1", "scalar round_to_integral format=fp32",
       MMAFUZZ_RUN(roundss), MMAFUZZ_RUN(roundss_silent)},
      {"cpu:round_to_integral.f64", "roundsd", sse4_1, "SSE4.1", "scalar round_to_integral format=fp64",
       MMAFUZZ_RUN(roundsd), MMAFUZZ_RUN(roundsd_silent)},
      {"cpu:equal_signaling.f32", "comiss: ZF without PF", sse2, "x86-64", "scalar equal_signaling format=fp32",
       MMAFUZZ_RUN(comiss_equal)},
      {"cpu:equal_signaling.f64", "comisd: ZF without PF", sse2, "x86-64", "scalar equal_signaling format=fp64",
       MMAFUZZ_RUN(comisd_equal)},
      {"cpu:less_quiet.f32", "ucomiss: CF alone", sse2, "x86-64", "scalar less_quiet format=fp32",
       MMAFUZZ_RUN(ucomiss_less)},
      {"cpu:less_quiet.f64", "ucomisd: CF alone", sse2, "x86-64", "scalar less_quiet format=fp64",
       MMAFUZZ_RUN(ucomisd_less)},
      {"cpu:less_equal_quiet.f32", "ucomiss: CF or ZF without PF", sse2, "x86-64",
       "scalar less_equal_quiet format=fp32", MMAFUZZ_RUN(ucomiss_less_equal)},
      {"cpu:less_equal_quiet.f64", "ucomisd: CF or ZF without PF", sse2, "x86-64",
       "scalar less_equal_quiet format=fp64", MMAFUZZ_RUN(ucomisd_less_equal)}};
#undef MMAFUZZ_CVT
  return all;
}

}  // namespace mmafuzz
