/* FMOPA (SME with FEAT_SME_F64F64): outer products of fp64 numbers, each element one fused multiply-add to a tile. */
#include <stdint.h>
#define NAME "arm.fmopa.f64"
#define OP "dot a=fp64 b=fp64 c=fp64 d=fp64 k="
#define K 1
#define MNEMONIC "fmopa"
#define PRODUCTS "z0.d, z1.d"
#define OF_FP64
typedef uint64_t operand;
#include "arm_outer_product.h"
