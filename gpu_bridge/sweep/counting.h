// Marks for ci/count_instructions.py in the machine code of sweeps in panels, where MMAFUZZ_COUNT is defined.
#pragma once

#if defined(MMAFUZZ_COUNT) && defined(__CUDA_ARCH__)
/// For ci/count_instructions.py: the code around runs n times for each warp in each panel; 0: seldom; -1: in the panels
/// with infinities and NaNs. And: a block takes so many bytes of shared memory.
#define MMAFUZZ_RUNS(n) asm volatile("pmevent.mask %0;" ::"n"((n) + 1))
#define MMAFUZZ_TAKES(bytes) asm volatile("pmevent.mask %0;" ::"n"(0x8000 | ((bytes) + 63) / 64))
#else
#define MMAFUZZ_RUNS(n)
#define MMAFUZZ_TAKES(bytes)
#endif
