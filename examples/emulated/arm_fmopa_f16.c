/* FMOPA (SME, widening): the outer product of four pairs and four pairs of fp16 numbers, added to a 4x4 tile of fp32.
 * Four cases are its diagonal. */
#define NAME "arm.fmopa.f16"
#define OP "dot a=fp16 b=fp16 c=fp32 d=fp32 k="
#define K 2
#define LANES 4
#include <stdint.h>
typedef uint16_t operand;
typedef uint32_t result;
#include "unit.h"

/* In encodings, for assemblers without SME. */
static void run(const operand* a, const operand* b, const result* c, result* d) {
  /* Vectors have 16 to 256 bytes: rows overlap where they have more than four numbers, and none of the diagonal is
   * lost. */
  uint32_t square[16 + 64] = {0};
  operand wide_a[128] = {0}, wide_b[128] = {0};
  memcpy(wide_a, a, LANES * K * sizeof *a);
  memcpy(wide_b, b, LANES * K * sizeof *b);
  for (int i = 0; i < 4; ++i) square[5 * i] = c[i];
  register const void* x0 __asm__("x0") = wide_a;
  register const void* x1 __asm__("x1") = wide_b;
  register void* x2 __asm__("x2") = square;
  __asm__ volatile(
      ".inst 0xd503477f\n" /* smstart */
      ".inst 0x2518e3e0\n" /* ptrue p0.b */
      ".inst 0xa400a000\n" /* ld1b {z0.b}, p0/z, [x0] */
      ".inst 0xa400a021\n" /* ld1b {z1.b}, p0/z, [x1] */
      "mov w12, #0\n"
      "mov x3, x2\n"
      "1:\n"
      ".inst 0xe09f0060\n" /* ld1w {za0h.s[w12, 0]}, p0/z, [x3] */
      "add x3, x3, #16\n"
      "add w12, w12, #1\n"
      "cmp w12, #4\n"
      "b.ne 1b\n"
      ".inst 0x81a10000\n" /* fmopa za0.s, p0/m, p0/m, z0.h, z1.h */
      "mov w12, #0\n"
      "mov x3, x2\n"
      "2:\n"
      ".inst 0xe0bf0060\n" /* st1w {za0h.s[w12, 0]}, p0, [x3] */
      "add x3, x3, #16\n"
      "add w12, w12, #1\n"
      "cmp w12, #4\n"
      "b.ne 2b\n"
      ".inst 0xd503467f\n" /* smstop */
      :
      : "r"(x0), "r"(x1), "r"(x2)
      : "x3", "x12", "memory", "cc");
  for (int i = 0; i < 4; ++i) d[i] = square[5 * i];
}
