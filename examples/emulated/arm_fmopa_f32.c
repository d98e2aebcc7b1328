/* FMOPA (SME): outer products of fp32 numbers, each element one fused multiply-add to a tile. */
#include <stdint.h>
#define NAME "arm.fmopa.f32"
#define OP "dot a=fp32 b=fp32 c=fp32 d=fp32 k="
#define K 1
#define MNEMONIC "fmopa"
#define PRODUCTS "z0.s, z1.s"
typedef uint32_t operand;
#include "arm_outer_product.h"
