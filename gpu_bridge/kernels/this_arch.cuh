// The architecture that is being compiled for, and the size of a launch.
#pragma once

#include <cstdint>

#include "gpu_bridge/instructions/instructions.def.h"

namespace mmafuzz {

/// A bit of namespace arch; 0 on the host and for any other architecture.
#if defined(__CUDA_ARCH__)
inline constexpr unsigned this_arch = __CUDA_ARCH__ == 750    ? arch::sm75
                                      : __CUDA_ARCH__ == 800  ? arch::sm80
                                      : __CUDA_ARCH__ == 860  ? arch::sm86
                                      : __CUDA_ARCH__ == 890  ? arch::sm89
                                      : __CUDA_ARCH__ == 900  ? arch::sm90
                                      : __CUDA_ARCH__ == 1000 ? arch::sm100
                                      : __CUDA_ARCH__ == 1200 ? arch::sm120
                                                              : 0;
#else
inline constexpr unsigned this_arch = 0;
#endif

/// Blocks of `block` threads for so many threads, at most `most_blocks`; the threads of a kernel then loop.
inline unsigned blocks_for(uint64_t threads, unsigned block, uint64_t most_blocks) {
  const uint64_t blocks = (threads + block - 1) / block;
  return static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks);
}

}  // namespace mmafuzz
