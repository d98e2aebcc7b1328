/* xvf64ger: the outer product of four and two fp64 numbers, a 4x2 matrix by fused multiply-adds. Two cases are the
 * diagonal of its upper half. Built with -DFORM=pp, pn, np, nn (added to the accumulator) or -DFORM= (not). */
#define INSTRUCTION xvf64ger
#define OP "dot a=fp64 b=fp64 c=fp64 d=fp64 k="
#define K 1
#define OF_FP64
typedef unsigned long long operand;
#include "power10_diagonal.h"
