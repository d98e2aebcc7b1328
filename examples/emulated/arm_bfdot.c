/* BFDOT (vector): in each lane a pair of bf16 products added to an fp32 number. */
#include <arm_neon.h>

#define NAME "arm.bfdot"
#define OP "dot a=bf16 b=bf16 c=fp32 d=fp32 k="
#define K 2
#define LANES 4
typedef uint16_t operand;
typedef uint32_t result;
#include "unit.h"

static void run(const operand* a, const operand* b, const result* c, result* d) {
  const bfloat16x8_t x = vreinterpretq_bf16_u16(vld1q_u16(a)), y = vreinterpretq_bf16_u16(vld1q_u16(b));
  vst1q_u32(d, vreinterpretq_u32_f32(vbfdotq_f32(vreinterpretq_f32_u32(vld1q_u32(c)), x, y)));
}
