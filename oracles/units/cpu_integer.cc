// x86's conversions between floating-point numbers and integers, its roundings to an integral number, and its
// comparisons that set the processor's flags.
#include <bit>
#include <type_traits>

#include "oracles/units/cpu_instructions.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mmafuzz {
namespace {

template <int width>
using Bits = std::conditional_t<width == 32, uint32_t, uint64_t>;
template <int width>
using Float = std::conditional_t<width == 32, float, double>;

template <int width>
Float<width> number(uint64_t encoding) {
  return std::bit_cast<Float<width>>(static_cast<Bits<width>>(encoding));
}

bool has_avx512f() { return MMAFUZZ_SUPPORTS("avx512f"); }

}  // namespace

// Each macro makes an element of the table. A floating-point number to an integer of `sign`, s or u; `t` is "t" for an
// instruction that truncates whatever the mode, else "".
#define MMAFUZZ_TO_INTEGER(t, sign, to, from, instruction, present, feature)                                \
  {                                                                                                         \
    "cpu:cvt" t "." #sign #to ".f" #from, instruction " r" #to, present, feature,                           \
        "convert from=fp" #from " to=" #sign #to, MMAFUZZ_RUN([](uint32_t mode, const uint64_t* operands) { \
          const Float<from> x = number<from>(operands[0]);                                                  \
          Bits<to> result;                                                                                  \
          MMAFUZZ_UNDER_MXCSR(instruction " %[x], %[r]", [r] "=&r"(result), [x] "x"(x));                    \
          return CpuAnswer{result, flags_of_mxcsr(after)};                                                  \
        }),                                                                                                 \
        nullptr, *t == 't'                                                                                  \
  }
// An integer to a floating-point number. `arguments` begins with the instruction's suffix for the integer's size.
#define MMAFUZZ_TO_FLOAT(to, sign, from, instruction, arguments, present, feature)                          \
  {                                                                                                         \
    "cpu:cvt.f" #to "." #sign #from, instruction " r" #from, present, feature,                              \
        "convert from=" #sign #from " to=fp" #to, MMAFUZZ_RUN([](uint32_t mode, const uint64_t* operands) { \
          const Bits<from> x = static_cast<Bits<from>>(operands[0]);                                        \
          Float<to> result = 0;                                                                             \
          MMAFUZZ_UNDER_MXCSR(instruction arguments, [r] "+x"(result), [x] "r"(x));                         \
          return CpuAnswer{std::bit_cast<Bits<to>>(result), flags_of_mxcsr(after)};                         \
        })                                                                                                  \
  }
// A floating-point number to an integral one.
#define MMAFUZZ_ROUND(width, instruction)                                                                             \
  {                                                                                                                   \
    "cpu:round_to_integral.f" #width, instruction, has_sse4_1, "SSE4.1", "scalar round_to_integral format=fp" #width, \
        MMAFUZZ_RUN(MMAFUZZ_ROUNDING(width, instruction, "4")),                                                       \
        MMAFUZZ_RUN(MMAFUZZ_ROUNDING(width, instruction, "12"))                                                       \
  }
// The immediate's bit 4 takes the rounding mode from MXCSR, its bit 8 suppresses the inexact flag.
#define MMAFUZZ_ROUNDING(width, instruction, immediate)                                           \
  [](uint32_t mode, const uint64_t* operands) {                                                   \
    const Float<width> x = number<width>(operands[0]);                                            \
    Float<width> result = 0;                                                                      \
    MMAFUZZ_UNDER_MXCSR(instruction " $" immediate ", %[x], %[r]", [r] "+x"(result), [x] "x"(x)); \
    return CpuAnswer{std::bit_cast<Bits<width>>(result), flags_of_mxcsr(after)};                  \
  }
// Comparisons set ZF, PF and CF as if unsigned integers had been compared; all three where unordered (Intel SDM,
// COMISS). `truth`: the answer where they are ordered, from zf and cf.
#define MMAFUZZ_COMPARE(comparison, width, instruction, flags, truth)                                       \
  {                                                                                                         \
    "cpu:" comparison ".f" #width, instruction ": " flags, has_sse2, "x86-64",                              \
        "scalar " comparison " format=fp" #width, MMAFUZZ_RUN([](uint32_t mode, const uint64_t* operands) { \
          const Float<width> x = number<width>(operands[0]), y = number<width>(operands[1]);                \
          uint8_t zf = 0, pf = 0, cf = 0;                                                                   \
          const uint32_t saved = _mm_getcsr();                                                              \
          uint32_t after = 0;                                                                               \
          asm volatile("ldmxcsr %[mode]\n\t" instruction                                                    \
                       " %[y], %[x]\n\tsetz %[zf]\n\tsetp %[pf]\n\tsetc %[cf]\n\t"                          \
                       "stmxcsr %[after]\n\tldmxcsr %[saved]"                                               \
                       : [zf] "=&q"(zf), [pf] "=&q"(pf), [cf] "=&q"(cf), [after] "=m"(after)                \
                       : [x] "x"(x), [y] "x"(y), [mode] "m"(mode), [saved] "m"(saved)                       \
                       : "cc");                                                                             \
          const Float<width> holds = !pf && (truth) ? 1 : 0;                                                \
          return CpuAnswer{std::bit_cast<Bits<width>>(holds), flags_of_mxcsr(after)};                       \
        })                                                                                                  \
  }

const std::vector<CpuScalarInstruction>& cpu_integer_instructions() {
  static const std::vector<CpuScalarInstruction> all = {
      MMAFUZZ_TO_INTEGER("", s, 32, 32, "cvtss2si", has_sse2, "x86-64"),
      MMAFUZZ_TO_INTEGER("", s, 64, 32, "cvtss2si", has_sse2, "x86-64"),
      MMAFUZZ_TO_INTEGER("", s, 32, 64, "cvtsd2si", has_sse2, "x86-64"),
      MMAFUZZ_TO_INTEGER("", s, 64, 64, "cvtsd2si", has_sse2, "x86-64"),
      MMAFUZZ_TO_INTEGER("t", s, 32, 32, "cvttss2si", has_sse2, "x86-64"),
      MMAFUZZ_TO_INTEGER("t", s, 64, 32, "cvttss2si", has_sse2, "x86-64"),
      MMAFUZZ_TO_INTEGER("t", s, 32, 64, "cvttsd2si", has_sse2, "x86-64"),
      MMAFUZZ_TO_INTEGER("t", s, 64, 64, "cvttsd2si", has_sse2, "x86-64"),
      MMAFUZZ_TO_INTEGER("", u, 32, 32, "vcvtss2usi", has_avx512f, "AVX512F"),
      MMAFUZZ_TO_INTEGER("", u, 64, 32, "vcvtss2usi", has_avx512f, "AVX512F"),
      MMAFUZZ_TO_INTEGER("", u, 32, 64, "vcvtsd2usi", has_avx512f, "AVX512F"),
      MMAFUZZ_TO_INTEGER("", u, 64, 64, "vcvtsd2usi", has_avx512f, "AVX512F"),
      MMAFUZZ_TO_INTEGER("t", u, 32, 32, "vcvttss2usi", has_avx512f, "AVX512F"),
      MMAFUZZ_TO_INTEGER("t", u, 64, 32, "vcvttss2usi", has_avx512f, "AVX512F"),
      MMAFUZZ_TO_INTEGER("t", u, 32, 64, "vcvttsd2usi", has_avx512f, "AVX512F"),
      MMAFUZZ_TO_INTEGER("t", u, 64, 64, "vcvttsd2usi", has_avx512f, "AVX512F"),
      MMAFUZZ_TO_FLOAT(32, s, 32, "cvtsi2ss", "l %[x], %[r]", has_sse2, "x86-64"),
      MMAFUZZ_TO_FLOAT(32, s, 64, "cvtsi2ss", "q %[x], %[r]", has_sse2, "x86-64"),
      MMAFUZZ_TO_FLOAT(64, s, 32, "cvtsi2sd", "l %[x], %[r]", has_sse2, "x86-64"),
      MMAFUZZ_TO_FLOAT(64, s, 64, "cvtsi2sd", "q %[x], %[r]", has_sse2, "x86-64"),
      MMAFUZZ_TO_FLOAT(32, u, 32, "vcvtusi2ss", "l %[x], %[r], %[r]", has_avx512f, "AVX512F"),
      MMAFUZZ_TO_FLOAT(32, u, 64, "vcvtusi2ss", "q %[x], %[r], %[r]", has_avx512f, "AVX512F"),
      MMAFUZZ_TO_FLOAT(64, u, 32, "vcvtusi2sd", "l %[x], %[r], %[r]", has_avx512f, "AVX512F"),
      MMAFUZZ_TO_FLOAT(64, u, 64, "vcvtusi2sd", "q %[x], %[r], %[r]", has_avx512f, "AVX512F"),
      MMAFUZZ_ROUND(32, "roundss"),
      MMAFUZZ_ROUND(64, "roundsd"),
      MMAFUZZ_COMPARE("equal_signaling", 32, "comiss", "ZF without PF", zf),
      MMAFUZZ_COMPARE("equal_signaling", 64, "comisd", "ZF without PF", zf),
      MMAFUZZ_COMPARE("less_quiet", 32, "ucomiss", "CF alone", cf && !zf),
      MMAFUZZ_COMPARE("less_quiet", 64, "ucomisd", "CF alone", cf && !zf),
      MMAFUZZ_COMPARE("less_equal_quiet", 32, "ucomiss", "CF or ZF without PF", cf || zf),
      MMAFUZZ_COMPARE("less_equal_quiet", 64, "ucomisd", "CF or ZF without PF", cf || zf),
  };
  return all;
}

}  // namespace mmafuzz
