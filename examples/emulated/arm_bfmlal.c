/* BFMLALB: the even products of bf16 numbers added to fp32 numbers, each by one fused multiply-add. */
#include <arm_neon.h>

#define NAME "arm.bfmlal"
#define OP "dot a=bf16 b=bf16 c=fp32 d=fp32 k="
#define K 1
#define LANES 4
typedef uint16_t operand;
typedef uint32_t result;
#include "unit.h"

static void run(const operand* a, const operand* b, const result* c, result* d) {
  const uint16_t even_a[8] = {a[0], 0, a[1], 0, a[2], 0, a[3]}, even_b[8] = {b[0], 0, b[1], 0, b[2], 0, b[3]};
  const bfloat16x8_t x = vreinterpretq_bf16_u16(vld1q_u16(even_a)), y = vreinterpretq_bf16_u16(vld1q_u16(even_b));
  vst1q_u32(d, vreinterpretq_u32_f32(vbfmlalbq_f32(vreinterpretq_f32_u32(vld1q_u32(c)), x, y)));
}
