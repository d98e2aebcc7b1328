/* xvi8ger4: the outer product of four quadruples of signed and four of unsigned bytes, a 4x4 matrix of s32. Built with
 * -DFORM=pp (sums wrap) or spp (they are clamped). */
#define INSTRUCTION xvi8ger4
#define OP "dot a=s8 b=u8 c=s32 d=s32 k="
#define K 4
typedef unsigned char operand;
#include "power10_diagonal.h"
