/* xvf32gerpp: the outer product of four and four fp32 numbers, added to a 4x4 matrix by fused multiply-adds. Four cases
 * are its diagonal. */
#include <altivec.h>

#define NAME "power10.xvf32gerpp"
#define OP "dot a=fp32 b=fp32 c=fp32 d=fp32 k="
#define K 1
#define LANES 4
#define OUTER_PRODUCT __builtin_mma_xvf32gerpp
typedef unsigned operand;
typedef unsigned result;
#include "unit.h"
#include "power10_diagonal.h"
