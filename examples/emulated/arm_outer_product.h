/* The outer products of Arm's SME on vectors of 128 bits: each case is one element of a tile of 4x4 fp32 or 2x2 fp64
 * numbers (unit.h says which). A file defines MNEMONIC, PRODUCTS as in "z0.h, z1.h", OP, K, `operand`, and OF_FP64.
 *
 * Each step is four instructions that together compute one outer product: some rows or the other rows, with some
 * columns or the other columns. The sets of rows and columns change with the turn; in turn 0 the first instruction has
 * all. Thus elements are computed, or left unchanged, under predicates of all kinds. Where a dot product ends within an
 * instruction, the predicates leave out the products after its end, whose operands are then NaNs. */
#define RUNS_CHAINS
#define PADDING 0xff
#ifdef OF_FP64
#define LANES 2
#define TILE "za0.d"
#define ROW "1d {za0h.d[%w0, 0]}, p0"
typedef uint64_t result;
#else
#define LANES 4
#define TILE "za0.s"
#define ROW "1w {za0h.s[%w0, 0]}, p0"
typedef uint32_t result;
#endif
#define TURNS LANES
#include "unit.h"

/* The compiler does not know that SME is in use, and must not use vectors between these instructions. */
#define SME(text, ...) __asm__ volatile(".arch armv9-a+sme+sme-f64\n\t" text : : __VA_ARGS__ : "memory")
#define LANE_BYTES (16 / LANES)

/* A predicate has a bit for each byte of a vector; the bit of the lowest byte of an operand selects it. */
static uint16_t predicate(unsigned lanes, size_t products) {
  uint16_t bits = 0;
  for (unsigned lane = 0; lane < LANES; ++lane)
    for (size_t j = 0; j < products; ++j)
      if (lanes >> lane & 1) bits |= 1u << (lane * LANE_BYTES + j * sizeof(operand));
  return bits;
}

__attribute__((target("general-regs-only"), noinline)) static void run_tiles(size_t groups, size_t steps,
                                                                             const operand* a, const operand* b,
                                                                             result* tiles,
                                                                             const uint16_t predicates[2][TURNS][4]) {
  SME("smstart\n\tptrue p0.b", "r"(0));
  for (size_t group = 0; group < groups; ++group, tiles += LANES * LANES) {
    for (unsigned row = 0; row < LANES; ++row) {
      register unsigned at __asm__("w12") = row;
      SME("ld" ROW "/z, [%1]", "r"(at), "r"(tiles + row * LANES));
    }
    for (size_t step = 0; step < steps; ++step, a += LANES * K, b += LANES * K)
      SME("ld1b {z0.b}, p0/z, [%0]\n\t"
          "ld1b {z1.b}, p0/z, [%1]\n\t"
          "ldr p1, [%2]\n\t"
          "ldr p2, [%2, #1, mul vl]\n\t"
          "ldr p3, [%2, #2, mul vl]\n\t"
          "ldr p4, [%2, #3, mul vl]\n\t" MNEMONIC " " TILE ", p1/m, p3/m, " PRODUCTS "\n\t" MNEMONIC " " TILE
          ", p1/m, p4/m, " PRODUCTS "\n\t" MNEMONIC " " TILE ", p2/m, p3/m, " PRODUCTS "\n\t" MNEMONIC " " TILE
          ", p2/m, p4/m, " PRODUCTS,
          "r"(a), "r"(b), "r"(predicates[step + 1 == steps][group % TURNS]));
    for (unsigned row = 0; row < LANES; ++row) {
      register unsigned at __asm__("w12") = row;
      SME("st" ROW ", [%1]", "r"(at), "r"(tiles + row * LANES));
    }
  }
  SME("smstop", "r"(0));
}

static void run_chains(size_t groups, size_t k, const operand* a, const operand* b, const result* c, result* d) {
  unsigned long bytes;
  __asm__(".arch armv9-a+sme\n\trdsvl %0, #1" : "=r"(bytes));
  if (bytes != 16) exit(1);
  const unsigned all = (1u << LANES) - 1;
  uint16_t predicates[2][TURNS][4];
  for (int last = 0; last < 2; ++last)
    for (unsigned t = 0; t < TURNS; ++t) {
      const size_t products = last && k % K ? k % K : K;
      const unsigned rows = t == 0 ? all : all & 9 * t, columns = t == 0 ? all : all & 6 * t;
      const unsigned lanes[4] = {rows, all & ~rows, columns, all & ~columns};
      for (int i = 0; i < 4; ++i) predicates[last][t][i] = predicate(lanes[i], products);
    }
  result* tiles = room(groups * LANES * sizeof *tiles * LANES);
  for (size_t i = 0; i < groups * LANES * LANES; ++i) tiles[i] = c[i / LANES];
  run_tiles(groups, steps_of(k), a, b, tiles, predicates);
  for (size_t i = 0; i < groups * LANES; ++i) d[i] = tiles[i * LANES + (i + i / LANES % TURNS) % LANES];
  free(tiles);
}
