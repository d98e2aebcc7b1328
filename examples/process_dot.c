/* A unit as a process of its own, in C (docs/processes.md): a dot product of fp16 numbers onto an fp32 c, any k, in
 * binary batches. The products are added to c in index order in double precision, and the sum is rounded once to fp32
 * (to nearest even). Every NaN result is 7fc00000.
 *
 *   cc -O2 examples/process_dot.c -o process_dot -lm
 *   mmafuzz fuzz --op 'dot a=fp16 b=fp16 c=fp32 d=fp32 k=16' --units process:./process_dot,exact */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double value_of[65536]; /* of each fp16 encoding; exact */

static double fp16_value(unsigned encoding) {
  const int fraction = encoding & 0x3ff, exponent = encoding >> 10 & 0x1f;
  const double magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                           : exponent == 0 ? ldexp(fraction, -24)
                                           : ldexp(fraction + 1024, exponent - 25);
  return encoding >> 15 ? -magnitude : magnitude;
}

/* Case by case: a holds k encodings of each case, then b, then c has one. */
static void run(size_t n, size_t k, const char* payload, uint32_t* results) {
  const uint16_t *a = (const uint16_t*)payload, *b = a + n * k;
  const char* c = (const char*)(b + n * k); /* not aligned for a float where k is odd */
  for (size_t i = 0; i < n; ++i) {
    float addend;
    memcpy(&addend, c + sizeof addend * i, sizeof addend);
    double sum = addend;
    for (size_t j = 0; j < k; ++j) sum += value_of[a[i * k + j]] * value_of[b[i * k + j]];
    const float rounded = (float)sum;
    memcpy(&results[i], &rounded, sizeof rounded);
    if (isnan(sum)) results[i] = 0x7fc00000;
  }
}

int main(void) {
  char line[4096];
  size_t k = 0;
  for (unsigned i = 0; i < 65536; ++i) value_of[i] = fp16_value(i);
  while (fgets(line, sizeof line, stdin)) {
    size_t n, bytes;
    int end = 0;
    if (strncmp(line, "mmafuzz-process ", 16) == 0) {
      puts("mmafuzz-process 1 binary example.process_dot");
    } else if (strncmp(line, "op ", 3) == 0) {
      /* The whole line: a word that this program does not know must not be ignored. */
      if (sscanf(line, "op dot a=fp16 b=fp16 c=fp32 d=fp32 k=%zu%n", &k, &end) == 1 && line[end] == '\n') puts("yes");
      else puts("no it takes dot a=fp16 b=fp16 c=fp32 d=fp32, any k");
    } else if (sscanf(line, "batch %zu %zu", &n, &bytes) == 2) {
      char* payload = malloc(bytes + 1);
      uint32_t* results = malloc(n * sizeof *results + 1);
      if (!payload || !results || fread(payload, 1, bytes, stdin) != bytes) return 1;
      run(n, k, payload, results);
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
