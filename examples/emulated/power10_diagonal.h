/* The outer products of POWER10: each case is one element of a 4x4 accumulator of 32-bit numbers, or of the upper or
 * lower half of a 4x2 accumulator of 64-bit ones (unit.h says which). A file defines INSTRUCTION, OP, K and `operand`,
 * and OF_FP64, or NIBBLES where two operands share a byte. */
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
#ifdef SATURATES
#define ATTRIBUTES " saturate=1"
#endif
#include "unit.h"

static __vector unsigned char factors(const operand* from) {
  __vector unsigned char x;
#ifdef NIBBLES
  unsigned char bytes[16];
  for (int i = 0; i < 16; ++i) bytes[i] = (from[2 * i] & 15) | from[2 * i + 1] << 4;
  memcpy(&x, bytes, sizeof x);
#else
  memcpy(&x, from, sizeof x);
#endif
  return x;
}

static void run(const operand* a, const operand* b, const result* c, result* d) {
  __vector_quad sums;
  __vector unsigned char x = factors(a), rows[4];
  result square[4][LANES];
  for (int row = 0; row < 4; ++row)
    for (int i = 0; i < LANES; ++i) square[row][i] = c[row % LANES];
  memcpy(rows, square, sizeof rows);
  __builtin_mma_build_acc(&sums, rows[0], rows[1], rows[2], rows[3]);
#ifdef OF_FP64
  __vector_pair twice;
  __builtin_vsx_build_pair(&twice, x, x);
  OUTER_PRODUCT(&sums, twice, factors(b));
#else
  OUTER_PRODUCT(&sums, x, factors(b));
#endif
  __builtin_mma_disassemble_acc(rows, &sums);
  memcpy(square, rows, sizeof rows);
  for (int i = 0; i < LANES; ++i) d[i] = square[i + turn / LANES * LANES][(i + turn) % LANES];
}
