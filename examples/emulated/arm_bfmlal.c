/* BFMLALB: the even products of bf16 numbers added to fp32 numbers, each by one fused multiply-add. Built with -DODD
 * BFMLALT, of the odd ones. */
#include <arm_neon.h>

#ifdef ODD
#define NAME "arm.bfmlalt"
#define AT 1
#define MULTIPLY_ADD vbfmlaltq_f32
#else
#define NAME "arm.bfmlal"
#define AT 0
#define MULTIPLY_ADD vbfmlalbq_f32
#endif
#define OP "dot a=bf16 b=bf16 c=fp32 d=fp32 k="
#define K 1
#define LANES 4
typedef uint16_t operand;
typedef uint32_t result;
#include "unit.h"

static bfloat16x8_t factors(const operand* from) {
  uint16_t all[8] = {0};
  for (int i = 0; i < LANES; ++i) all[2 * i + AT] = from[i];
  return vreinterpretq_bf16_u16(vld1q_u16(all));
}

static void run(const operand* a, const operand* b, const result* c, result* d) {
  const float32x4_t sum = vreinterpretq_f32_u32(vld1q_u32(c));
  vst1q_u32(d, vreinterpretq_u32_f32(MULTIPLY_ADD(sum, factors(a), factors(b))));
}
