/* run() of the outer products of POWER10 with a 4x4 accumulator of 32-bit numbers: each case is one of its diagonal. */
static void run(const operand* a, const operand* b, const result* c, result* d) {
  __vector_quad sums;
  __vector unsigned char x, y, rows[4];
  result square[4][4] = {{0}};
  for (int i = 0; i < 4; ++i) square[i][i] = c[i];
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  memcpy(rows, square, sizeof rows);
  __builtin_mma_build_acc(&sums, rows[0], rows[1], rows[2], rows[3]);
  OUTER_PRODUCT(&sums, x, y);
  __builtin_mma_disassemble_acc(rows, &sums);
  memcpy(square, rows, sizeof rows);
  for (int i = 0; i < 4; ++i) d[i] = square[i][i];
}
