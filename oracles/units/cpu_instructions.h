// Instructions of x86 as rows: how they are asked, and what they equal. MXCSR, the control and status register of SSE:
// rounding and flushing as an op asks, flags as case text has them.
#pragma once

#include <vector>

#include "core/unit.h"

namespace mmafuzz {

// MXCSR (Intel SDM vol. 1, 10.2.3): exception flags in bits 0..5, masks in 7..12, rounding in 13..14.
inline constexpr uint32_t mxcsr_all_masked = 0x1f80;
inline constexpr uint32_t mxcsr_denormals_are_zero = 0x0040, mxcsr_flush_to_zero = 0x8000;

inline uint32_t mxcsr_for(const Op& op) {
  uint32_t mode = mxcsr_all_masked;
  switch (op.rounding) {
    case Rounding::down: mode |= 1u << 13; break;
    case Rounding::up: mode |= 2u << 13; break;
    case Rounding::toward_zero: mode |= 3u << 13; break;
    default: break;
  }
  if (op.flush_to_zero) mode |= mxcsr_denormals_are_zero | mxcsr_flush_to_zero;
  return mode;
}

/// MXCSR flags (IE DE ZE OE UE PE from bit 0) as the case text's flags.
inline uint8_t flags_of_mxcsr(uint32_t mxcsr) {
  uint8_t flags = 0;
  if (mxcsr & 0x01) flags |= flag::invalid;
  if (mxcsr & 0x02) flags |= flag::denormal_operand;
  if (mxcsr & 0x04) flags |= flag::divide_by_zero;
  if (mxcsr & 0x08) flags |= flag::overflow;
  if (mxcsr & 0x10) flags |= flag::underflow;
  if (mxcsr & 0x20) flags |= flag::inexact;
  return flags;
}

/// What an instruction gave, and the flags that it raised.
struct CpuAnswer {
  uint64_t encoding;
  uint8_t flags;
};

/// One instruction under MXCSR: operands as encodings, the result and the flags that it raised.
using CpuFunction = CpuAnswer (*)(uint32_t mode, const uint64_t* operands);

// One instruction between loading and storing MXCSR, so that no compiler moves it out. AT&T operand order.
#define MMAFUZZ_UNDER_MXCSR(instruction, outputs, ...)                                      \
  const uint32_t saved = _mm_getcsr();                                                      \
  uint32_t after = 0;                                                                       \
  asm volatile("ldmxcsr %[mode]\n\t" instruction "\n\tstmxcsr %[after]\n\tldmxcsr %[saved]" \
               : outputs, [after] "=m"(after)                                               \
               : __VA_ARGS__, [mode] "m"(mode), [saved] "m"(saved)                          \
               : "cc")
// A function of a row, and whether this CPU has a feature: on another machine the rows are listed, and absent.
#if defined(__x86_64__)
#define MMAFUZZ_RUN(...) __VA_ARGS__
#define MMAFUZZ_SUPPORTS(feature) (__builtin_cpu_supports(feature) != 0)
#else
#define MMAFUZZ_RUN(...) nullptr
#define MMAFUZZ_SUPPORTS(feature) false
#endif

inline bool has_sse2() { return MMAFUZZ_SUPPORTS("sse2"); }  // as every x86-64 does
inline bool has_sse4_1() { return MMAFUZZ_SUPPORTS("sse4.1"); }

/// A scalar operation or a conversion.
struct CpuScalarInstruction {
  const char* name;     ///< of the unit
  const char* summary;  ///< the instruction
  bool (*present)();
  const char* feature;
  const char* op;  ///< what it takes, as the beginning of an op line
  CpuFunction run;
  CpuFunction run_silently = nullptr;  ///< with inexact=0, where it has that
  bool truncates = false;              ///< takes round=toward_zero alone
};

/// A dot of any number of products.
struct CpuDotInstruction {
  const char* name;     ///< of the unit: instruction, then the formats of d, a, b and c
  const char* summary;  ///< instruction and what it adds
  bool (*present)();
  const char* feature;
  const char *a, *b, *c;  ///< formats; d has that of c
  const char* equals;     ///< the unit that it claims to equal
  uint64_t (*run)(const DotOperands& in);
};

/// Conversions between numbers and integers, and comparisons that set the processor's flags.
const std::vector<CpuScalarInstruction>& cpu_integer_instructions();
/// One element of a product of AMX tiles, which are filled up with zeros.
const std::vector<CpuDotInstruction>& cpu_tile_instructions();

}  // namespace mmafuzz
