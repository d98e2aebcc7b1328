/* A unit of mmafuzz as a process (docs/processes.md): it reads binary batches of dot products and writes results. An
 * instruction's file defines before it includes this one
 *   NAME, OP         its name; the op line that it takes, up to the number of products
 *   K                products of one call
 *   operand, result  types of the encodings of a and b, and of c and d
 *   LANES            cases that one call of run() evaluates
 * and then run(), which gets K encodings of a, K of b and one of c for each of LANES cases. Longer dot products are
 * sequences of calls, each with the result of the one before as its c; shorter ones are padded with zeros. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void run(const operand* a, const operand* b, const result* c, result* d);

static void run_batch(size_t n, size_t k, const char* payload, result* results) {
  const char *a = payload, *b = a + n * k * sizeof(operand), *c = b + n * k * sizeof(operand);
  for (size_t first = 0; first < n; first += LANES) {
    const size_t cases = n - first < LANES ? n - first : LANES;
    result sum[LANES] = {0};
    memcpy(sum, c + first * sizeof(result), cases * sizeof(result));
    for (size_t step = 0; step < k; step += K) {
      const size_t products = k - step < K ? k - step : K;
      operand x[LANES * K] = {0}, y[LANES * K] = {0};
      for (size_t i = 0; i < cases; ++i) {
        memcpy(x + i * K, a + ((first + i) * k + step) * sizeof(operand), products * sizeof(operand));
        memcpy(y + i * K, b + ((first + i) * k + step) * sizeof(operand), products * sizeof(operand));
      }
      run(x, y, sum, sum);
    }
    memcpy(results + first, sum, cases * sizeof(result));
  }
}

int main(void) {
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
                        (strcmp(line + end, "\n") == 0 || strcmp(line + end, " nan=any\n") == 0);
      puts(known ? "yes" : "no it takes " OP "..., with or without nan=any");
    } else if (k > 0 && sscanf(line, "batch %zu %zu", &n, &bytes) == 2) {
      char* payload = malloc(bytes + 1);
      result* results = malloc(n * sizeof *results + 1);
      if (!payload || !results || fread(payload, 1, bytes, stdin) != bytes) return 1;
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
