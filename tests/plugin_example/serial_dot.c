/* A plugin as somebody writes the first one: fp32 additions in the order of the products. It claims nothing, but with
 * EQUALS the unit of that name. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "oracles/units/plugin_abi.h"

static float fp16_value(uint64_t encoding) {
  const int fraction = encoding & 0x3ff, exponent = encoding >> 10 & 0x1f;
  const float magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                          : exponent == 0 ? ldexpf((float)fraction, -24)
                                          : ldexpf((float)(fraction + 1024), exponent - 25);
  return encoding >> 15 ? -magnitude : magnitude;
}

int mmafuzz_plugin_abi(void) { return MMAFUZZ_PLUGIN_ABI; }

const char* mmafuzz_plugin_name(void) { return "example.serial_dot"; }

int mmafuzz_plugin_supports(const struct mmafuzz_op* op, char* reason, size_t size) {
  if (strcmp(op->kind, "dot") == 0 && strcmp(op->a, "fp16") == 0 && strcmp(op->b, "fp16") == 0 &&
      strcmp(op->c, "fp32") == 0 && strcmp(op->d, "fp32") == 0 && op->scale_block == 0 &&
      strcmp(op->rounding, "nearest_even") == 0)
    return 1;
  snprintf(reason, size, "takes dots of fp16 products onto fp32");
  return 0;
}

#ifdef EQUALS
const char* mmafuzz_plugin_equals(const struct mmafuzz_op* op) { return op->k ? EQUALS : NULL; }
#endif

int mmafuzz_plugin_run(const struct mmafuzz_op* op, const struct mmafuzz_batch* batch) {
  const size_t k = (size_t)op->k;
  for (size_t i = 0; i < batch->n; ++i) {
    uint32_t bits = (uint32_t)batch->c[i];
    float sum;
    memcpy(&sum, &bits, sizeof sum);
    for (size_t j = 0; j < k; ++j) sum += fp16_value(batch->a[i * k + j]) * fp16_value(batch->b[i * k + j]);
    memcpy(&bits, &sum, sizeof bits);
    batch->result[i] = isnan(sum) ? 0x7fc00000 : bits;
  }
  return 0;
}
