/* xvi4ger8: the outer product of four and four times eight integers of four bits, a 4x4 matrix of s32. Built with
 * -DFORM=pp (sums wrap). */
#define INSTRUCTION xvi4ger8
#define OP "dot a=s4 b=s4 c=s32 d=s32 k="
#define K 8
#define NIBBLES
typedef unsigned char operand;
#include "power10_diagonal.h"
