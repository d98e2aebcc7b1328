/* An example unit behind the plugin interface (docs/plugins.md): a dot product of fp16 numbers onto an fp32 c, any k.
 *
 * What it computes: the products are added to c in index order in double precision (round to nearest even), and the
 * sum is then truncated: rounded toward zero to fp32. A product of two fp16 numbers has at most 22 significand bits, so
 * it is exact in double, and a compiler that contracts to fused multiply-add changes nothing. Every NaN result is
 * 7fc00000. Infinities and signs of zeros follow IEEE 754.
 *
 *   cc -O2 -shared -fPIC -I <source folder of mmafuzz> truncating_dot.c -o truncating_dot.so -lm */
#include <math.h>
#include <stdio.h>
#include <string.h>

#if __has_include("oracles/units/plugin_abi.h")
#include "oracles/units/plugin_abi.h"
#else
#include <mmafuzz/plugin_abi.h>  // of an installation
#endif

/* The value of an fp16 encoding; exact. Payloads of NaNs do not matter here. */
static double fp16_value(uint64_t encoding) {
  const int fraction = (int)(encoding & 0x3ff);
  const int exponent = (int)(encoding >> 10 & 0x1f);
  double magnitude;
  if (exponent == 31) {
    magnitude = fraction ? NAN : INFINITY;
  } else if (exponent == 0) {
    magnitude = ldexp(fraction, -24); /* zero or subnormal */
  } else {
    magnitude = ldexp(fraction + 1024, exponent - 25);
  }
  return encoding >> 15 & 1 ? -magnitude : magnitude;
}

static double fp32_value(uint64_t encoding) {
  const uint32_t bits = (uint32_t)encoding;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* The fp32 encoding of x rounded toward zero. */
static uint64_t truncate_to_fp32(double x) {
  if (isnan(x)) return 0x7fc00000;
  const float nearest = (float)x;
  uint32_t bits;
  memcpy(&bits, &nearest, sizeof bits);
  /* Rounding to nearest went away from zero: the number before it has the encoding before it, whatever the sign. */
  if (fabs((double)nearest) > fabs(x)) --bits;
  return bits;
}

int mmafuzz_plugin_abi(void) { return MMAFUZZ_PLUGIN_ABI; }

const char* mmafuzz_plugin_name(void) { return "example.truncating_dot"; }

int mmafuzz_plugin_supports(const struct mmafuzz_op* op, char* reason, size_t size) {
  if (strcmp(op->kind, "dot") != 0) {
    snprintf(reason, size, "computes dot products only, not %s", op->kind);
    return 0;
  }
  if (strcmp(op->a, "fp16") != 0 || strcmp(op->b, "fp16") != 0 || strcmp(op->c, "fp32") != 0 ||
      strcmp(op->d, "fp32") != 0) {
    snprintf(reason, size, "takes a=fp16 b=fp16 c=fp32 d=fp32, any k");
    return 0;
  }
  if (op->scale_block > 0) {
    snprintf(reason, size, "knows no scales");
    return 0;
  }
  if (strcmp(op->rounding, "nearest_even") != 0) { /* what an op line without round= says */
    snprintf(reason, size, "has its own rounding; the op must not ask for %s", op->rounding);
    return 0;
  }
  return 1;
}

/* No state outside the arguments: several threads may be here at once. */
int mmafuzz_plugin_run(const struct mmafuzz_op* op, const struct mmafuzz_batch* batch) {
  const size_t k = (size_t)op->k;
  for (size_t i = 0; i < batch->n; ++i) {
    const uint64_t* a = batch->a + i * k;
    const uint64_t* b = batch->b + i * k;
    double sum = fp32_value(batch->c[i]);
    for (size_t j = 0; j < k; ++j) sum += fp16_value(a[j]) * fp16_value(b[j]);
    batch->result[i] = truncate_to_fp32(sum);
  }
  return 0;
}
