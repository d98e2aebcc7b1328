// The architecture that is being compiled for, as a bit of namespace arch; 0 on the host and for any other
// architecture.
#pragma once

#include "gpu_bridge/instructions/instructions.def.h"

namespace mmafuzz {

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

}  // namespace mmafuzz
