/* BFMOPA (SME, FPCR.EBF = 0): outer products of pairs of bf16 numbers, added to a tile of fp32. */
#include <stdint.h>
#define NAME "arm.bfmopa"
#define OP "dot a=bf16 b=bf16 c=fp32 d=fp32 k="
#define K 2
#define MNEMONIC "bfmopa"
#define PRODUCTS "z0.h, z1.h"
typedef uint16_t operand;
#include "arm_outer_product.h"
