// The tables of x86's instructions, and MXCSR, the control and status register of SSE: an op's rounding and flushing as
// control bits, and the exception flags as those of case text.
#pragma once

#include <vector>

#include "core/unit.h"

namespace mmafuzz {

// MXCSR (Intel SDM vol. 1, 10.2.3): exception flags in bits 0..5, DAZ in 6, masks in 7..12, rounding in 13..14, FTZ
// in 15.
inline constexpr uint32_t mxcsr_all_masked = 0x1f80;
inline constexpr uint32_t mxcsr_denormals_are_zero = 0x0040, mxcsr_flush_to_zero = 0x8000;

/// The control bits for an op, all exceptions masked; a rounding mode that x86 lacks reads as nearest even.
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

/// An instruction's result and the flags of case text that it raised.
struct CpuAnswer {
  uint64_t encoding;
  uint8_t flags;
};

/// Runs one instruction on encodings with `mode` in MXCSR.
using CpuFunction = CpuAnswer (*)(uint32_t mode, const uint64_t* operands);

// One asm statement loads MXCSR from `mode`, runs the instruction and stores MXCSR in `after`, so that no compiler
// moves the instruction out. Operands are in AT&T order, the destination last.
#define MMAFUZZ_UNDER_MXCSR(instruction, outputs, ...)                                      \
  const uint32_t saved = _mm_getcsr();                                                      \
  uint32_t after = 0;                                                                       \
  asm volatile("ldmxcsr %[mode]\n\t" instruction "\n\tstmxcsr %[after]\n\tldmxcsr %[saved]" \
               : outputs, [after] "=m"(after)                                               \
               : __VA_ARGS__, [mode] "m"(mode), [saved] "m"(saved)                          \
               : "cc")
// An instruction's function, and whether this CPU has a feature. Where the machine is no x86-64, the instructions are
// listed, too, with nullptr and false.
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
  const char* name;                    ///< of the unit
  const char* summary;                 ///< the instruction
  bool (*present)();                   ///< whether this CPU has the instruction
  const char* feature;                 ///< CPU feature that it needs, for messages
  const char* op;                      ///< the beginning of the op line that it takes, behind "op "
  CpuFunction run;                     ///< nullptr where the machine is no x86-64
  CpuFunction run_silently = nullptr;  ///< of ops with inexact=0; nullptr: it takes none
  bool truncates = false;              ///< it takes only ops with round=toward_zero
};

/// A dot of any number of products.
struct CpuDotInstruction {
  const char* name;       ///< of the unit: instruction, then the formats of d, a, b and c
  const char* summary;    ///< instruction and what it adds
  bool (*present)();      ///< whether this CPU has the instruction and Linux permits it
  const char* feature;    ///< CPU feature that it needs, for messages
  const char *a, *b, *c;  ///< formats; d has that of c
  const char* equals;     ///< the unit that it claims to equal
  uint64_t (*run)(const DotOperands& in);
};

/// Conversions between floating-point numbers and integers, roundings to an integral number, and comparisons that set
/// the processor's flags.
const std::vector<CpuScalarInstruction>& cpu_integer_instructions();
/// One element of a product of AMX tiles, which are filled up with zeros.
const std::vector<CpuDotInstruction>& cpu_tile_instructions();

}  // namespace mmafuzz
