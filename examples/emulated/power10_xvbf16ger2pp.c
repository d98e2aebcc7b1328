/* xvbf16ger2pp: the outer product of four pairs and four pairs of bf16 numbers, added to a 4x4 matrix of fp32. Four
 * cases are its diagonal. */
#include <altivec.h>

#define NAME "power10.xvbf16ger2pp"
#define OP "dot a=bf16 b=bf16 c=fp32 d=fp32 k="
#define K 2
#define LANES 4
#define OUTER_PRODUCT __builtin_mma_xvbf16ger2pp
typedef unsigned short operand;
typedef unsigned result;
#include "unit.h"
#include "power10_diagonal.h"
