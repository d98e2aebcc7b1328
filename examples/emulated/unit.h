/* A unit of mmafuzz as a process (docs/processes.md): it reads binary batches of dot products and writes results. An
 * instruction's file defines before it includes this one
 *   NAME, OP         its name; the op line that it takes, up to the number of products
 *   ATTRIBUTES       what follows the number of products; if not defined, nothing or nan=any
 *   K                products of one call
 *   operand, result  types of the encodings of a and b, and of c and d
 *   LANES            cases that one call of run() evaluates
 * and then run(), which gets K encodings of a, K of b and one of c for each of LANES cases. Longer dot products are
 * sequences of calls, each with the result of the one before as its c; shorter ones are padded with zeros.
 *
 * An outer product has LANES times LANES elements (or more, such blocks), of which a call computes cases on a diagonal.
 * It defines TURNS, the number of diagonals: the case whose a is in row i has its b and its result in column
 * (i + turn) % LANES. `turn` is the number of the group of cases modulo TURNS, so that every element computes some
 * case. The elements off the diagonal are products of unlike cases and are ignored. A case that comes alone is
 * evaluated at every element; if one has another result than the first, that result is the answer, so that a wrong
 * element shows without other cases beside it, too.
 *
 * On Arm, the argument of the program is the value of FPCR.
 *
 * With RUNS_CHAINS the file defines run_chains(groups, k, a, b, c, d) instead of run(), which does all calls of a
 * batch. a and b are padded with bytes PADDING. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef TURNS
#define TURNS 1
#endif
#ifndef ATTRIBUTES
#define ATTRIBUTES ""
#endif
#ifndef PADDING
#define PADDING 0
#endif

/* The number of calls for k products. The buffers of a group hold a (or b) of the first call, of the second, ... */
static size_t steps_of(size_t k) { return (k + K - 1) / K; }

#ifdef RUNS_CHAINS
static void run_chains(size_t groups, size_t k, const operand* a, const operand* b, const result* c, result* d);
#else
static size_t turn;
static void run(const operand* a, const operand* b, const result* c, result* d);

static void run_chains(size_t groups, size_t k, const operand* a, const operand* b, const result* c, result* d) {
  for (size_t group = 0; group < groups; ++group, c += LANES, d += LANES) {
    result sum[LANES];
    memcpy(sum, c, sizeof sum);
    turn = group % TURNS;
    for (size_t step = 0; step < steps_of(k); ++step, a += LANES * K, b += LANES * K) run(a, b, sum, sum);
    memcpy(d, sum, sizeof sum);
  }
}
#endif

static void* room(size_t bytes) {
  void* memory = malloc(bytes + 1);
  if (!memory) exit(1);
  return memory;
}

/* Evaluates n cases. A case that comes alone fills all lanes of TURNS groups. */
static void run_batch(size_t n, size_t k, const char* payload, result* results) {
  const operand *a = (const operand*)payload, *b = a + n * k;
  const size_t groups = n == 1 ? TURNS : (n + LANES - 1) / LANES, lanes = groups * LANES, stride = LANES * K;
  const size_t size = lanes * steps_of(k) * K * sizeof(operand);
  operand *x = room(size), *y = room(size);
  result *c = room(lanes * sizeof *c), *d = room(lanes * sizeof *d);
  memset(x, PADDING, size);
  memset(y, PADDING, size);
  for (size_t lane = 0; lane < lanes; ++lane) {
    const size_t i = lane < n ? lane : n - 1, group = lane / LANES, place = (lane + group % TURNS) % LANES;
    memcpy(c + lane, (const char*)(b + n * k) + i * sizeof *c, sizeof *c);
    for (size_t step = 0; step < steps_of(k); ++step) {
      const size_t products = k - step * K < K ? k - step * K : K, at = (group * steps_of(k) + step) * stride;
      memcpy(x + at + lane % LANES * K, a + i * k + step * K, products * sizeof(operand));
      memcpy(y + at + place * K, b + i * k + step * K, products * sizeof(operand));
    }
  }
  run_chains(groups, k, x, y, c, d);
  memcpy(results, d, n * sizeof *d);
  for (size_t lane = 1; n == 1 && lane < lanes; ++lane)
    if (d[lane] != d[0]) results[0] = d[lane];
  free(x);
  free(y);
  free(c);
  free(d);
}

int main(int argc, char** argv) {
#ifdef __aarch64__
  if (argc > 1) __asm__ volatile("msr fpcr, %0" : : "r"(strtoull(argv[1], 0, 10)));
#else
  if (argc > 1 && argv[1]) return 1;
#endif
  char line[4096];
  size_t k = 0;
  while (fgets(line, sizeof line, stdin)) {
    size_t n, bytes;
    int end = 0;
    if (strncmp(line, "mmafuzz-process ", 16) == 0) {
      puts("mmafuzz-process 1 binary " NAME);
    } else if (strncmp(line, "op ", 3) == 0) {
      /* The whole line: a word that this program does not know must not be ignored. */
      const int known = sscanf(line, "op " OP "%zu%n", &k, &end) == 1 && k > 0 &&
                        (strcmp(line + end, ATTRIBUTES "\n") == 0 || strcmp(line + end, ATTRIBUTES " nan=any\n") == 0);
      puts(known ? "yes" : "no it takes " OP "..." ATTRIBUTES ", with or without nan=any");
    } else if (k > 0 && sscanf(line, "batch %zu %zu", &n, &bytes) == 2) {
      char* payload = room(bytes);
      result* results = room(n * sizeof *results);
      if (fread(payload, 1, bytes, stdin) != bytes) return 1;
      run_batch(n, k, payload, results);
      printf("results %zu\n", n);
      fwrite(results, sizeof *results, n, stdout);
      puts("end");
      free(payload);
      free(results);
    } else {
      return 1;
    }
    fflush(stdout);
  }
  return 0;
}
