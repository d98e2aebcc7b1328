// The steps of a panel (gpu_bridge/sweep/panel.h) as kernels of their own on a panel in memory, for
// tests/operand_bytes_test.py: what the compiler makes of them is translated from PTX and run.
#include "tests/operands/panel_steps.h"

using namespace mmafuzz;

#define STEPS(NAME, CLAIM)                                                                                     \
  extern "C" __global__ void tables_##NAME(sweep::Panel<CLAIM>* panel, SweepSource s, uint64_t) {              \
    panel->make_tables(s.request, static_cast<int>(threadIdx.x));                                              \
  }                                                                                                            \
  extern "C" __global__ void plan_##NAME(sweep::Panel<CLAIM>* panel, SweepSource s, uint64_t number) {         \
    panel->plan(s, number, static_cast<int>(threadIdx.x));                                                     \
  }                                                                                                            \
  extern "C" __global__ void draw_##NAME(sweep::Panel<CLAIM>* panel, SweepSource s, uint64_t) {                \
    panel->draw(s, static_cast<int>(threadIdx.x));                                                             \
  }                                                                                                            \
  extern "C" __global__ void dots_##NAME(sweep::Panel<CLAIM>* panel, SweepSource s, uint64_t, uint64_t* out) { \
    const int row = static_cast<int>(threadIdx.x) / 64, column = static_cast<int>(threadIdx.x) % 64;           \
    const auto c = panel->c_of(s, row, column);                                                                \
    out[2 * threadIdx.x] = c;                                                                                  \
    out[2 * threadIdx.x + 1] = panel->claimed(s.request, row, column, c);                                      \
  }
PANEL_STEPS(STEPS)
