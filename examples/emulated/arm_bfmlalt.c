/* BFMLALT: the odd products of bf16 numbers added to fp32 numbers, each by one fused multiply-add. */
#include <arm_neon.h>

#define NAME "arm.bfmlalt"
#define OP "dot a=bf16 b=bf16 c=fp32 d=fp32 k="
#define K 1
#define LANES 4
typedef uint16_t operand;
typedef uint32_t result;
#include "unit.h"

static void run(const operand* a, const operand* b, const result* c, result* d) {
  const uint16_t odd_a[8] = {0, a[0], 0, a[1], 0, a[2], 0, a[3]}, odd_b[8] = {0, b[0], 0, b[1], 0, b[2], 0, b[3]};
  const bfloat16x8_t x = vreinterpretq_bf16_u16(vld1q_u16(odd_a)), y = vreinterpretq_bf16_u16(vld1q_u16(odd_b));
  vst1q_u32(d, vreinterpretq_u32_f32(vbfmlaltq_f32(vreinterpretq_f32_u32(vld1q_u32(c)), x, y)));
}
