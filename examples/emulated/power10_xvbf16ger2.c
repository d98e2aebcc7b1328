/* xvbf16ger2: the outer product of four pairs and four pairs of bf16 numbers, a 4x4 matrix of fp32. Four cases are its
 * diagonal. Built with -DFORM=pp, pn, np, nn (added to the accumulator) or -DFORM= (not). */
#define INSTRUCTION xvbf16ger2
#define OP "dot a=bf16 b=bf16 c=fp32 d=fp32 k="
#define K 2
typedef unsigned short operand;
#include "power10_diagonal.h"
