// MXCSR, the control and status register of x86's SSE: rounding and flushing as an op asks, flags as case text has
// them.
#pragma once

#include "core/op.h"

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

}  // namespace mmafuzz
