/* xvi16ger2: the outer product of four pairs and four pairs of integers of 16 bits, a 4x4 matrix of s32. Built with
 * -DFORM=pp (sums wrap) or spp (they are clamped). */
#define INSTRUCTION xvi16ger2
#define OP "dot a=s16 b=s16 c=s32 d=s32 k="
#define K 2
typedef unsigned short operand;
#include "power10_diagonal.h"
