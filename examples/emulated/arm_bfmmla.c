/* BFMMLA: 2x4 times 4x2 bf16 matrices added to a 2x2 one of fp32. Two cases are its diagonal. */
#include <arm_neon.h>

#define NAME "arm.bfmmla"
#define OP "dot a=bf16 b=bf16 c=fp32 d=fp32 k="
#define K 4
#define LANES 2
typedef uint16_t operand;
typedef uint32_t result;
#include "unit.h"

static void run(const operand* a, const operand* b, const result* c, result* d) {
  const uint32_t square[4] = {c[0], 0, 0, c[1]};
  const bfloat16x8_t x = vreinterpretq_bf16_u16(vld1q_u16(a)), y = vreinterpretq_bf16_u16(vld1q_u16(b));
  const uint32x4_t z = vreinterpretq_u32_f32(vbfmmlaq_f32(vreinterpretq_f32_u32(vld1q_u32(square)), x, y));
  d[0] = vgetq_lane_u32(z, 0);
  d[1] = vgetq_lane_u32(z, 3);
}
