/* FMOPA (SME, widening): outer products of pairs of fp16 numbers, added to a tile of fp32. */
#include <stdint.h>
#define NAME "arm.fmopa.f16"
#define OP "dot a=fp16 b=fp16 c=fp32 d=fp32 k="
#define K 2
#define MNEMONIC "fmopa"
#define PRODUCTS "z0.h, z1.h"
typedef uint16_t operand;
#include "arm_outer_product.h"
