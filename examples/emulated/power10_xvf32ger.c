/* xvf32ger: the outer product of four and four fp32 numbers, a 4x4 matrix by fused multiply-adds. Four cases are its
 * diagonal. Built with -DFORM=pp, pn, np, nn (added to the accumulator) or -DFORM= (not). */
#define INSTRUCTION xvf32ger
#define OP "dot a=fp32 b=fp32 c=fp32 d=fp32 k="
#define K 1
typedef unsigned operand;
#include "power10_diagonal.h"
