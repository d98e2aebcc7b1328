/* The outer products of POWER10: each case is one element of a 4x4 accumulator of 32-bit numbers, or of the upper or
 * lower half of a 4x2 accumulator of 64-bit ones (unit.h says which). A file defines INSTRUCTION, OP, K and `operand`,
 * and OF_FP64. */
#include <altivec.h>

#ifndef FORM
#define FORM pp
#endif
#define JOINED_(x, y) x##y
#define JOINED(x, y) JOINED_(x, y)
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define NAME "power10." TEXT(JOINED(INSTRUCTION, FORM))
#define OUTER_PRODUCT JOINED(__builtin_mma_, JOINED(INSTRUCTION, FORM))
#ifdef OF_FP64
#define LANES 2
typedef unsigned long long result;
#else
#define LANES 4
typedef unsigned result;
#endif
#define TURNS 4
#include "unit.h"

static void run(const operand* a, const operand* b, const result* c, result* d) {
  __vector_quad sums;
  __vector unsigned char y, rows[4];
  result square[4][LANES];
  for (int row = 0; row < 4; ++row)
    for (int i = 0; i < LANES; ++i) square[row][i] = c[row % LANES];
  memcpy(&y, b, sizeof y);
  memcpy(rows, square, sizeof rows);
#ifdef OF_FP64
  __vector unsigned char half;
  __vector_pair x;
  memcpy(&half, a, sizeof half);
  __builtin_vsx_build_pair(&x, half, half);
#else
  __vector unsigned char x;
  memcpy(&x, a, sizeof x);
#endif
  __builtin_mma_build_acc(&sums, rows[0], rows[1], rows[2], rows[3]);
  OUTER_PRODUCT(&sums, x, y);
  __builtin_mma_disassemble_acc(rows, &sums);
  memcpy(square, rows, sizeof rows);
  for (int i = 0; i < LANES; ++i) d[i] = square[i + turn / LANES * LANES][(i + turn) % LANES];
}
