/* The C interface by which anyone's unit (RTL simulation, C model, other accelerator) is a unit of mmafuzz:
 * `plugin:<file.so>`. A plugin is a shared library that exports the functions below. docs/plugins.md walks through one.
 *
 * Encodings are unsigned 64-bit integers: the bits of a number of the named format are the low bits, and the bits
 * above the format's width are zero. The functions may be called from several threads at once. */
#ifndef MMAFUZZ_PLUGIN_ABI_H
#define MMAFUZZ_PLUGIN_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MMAFUZZ_PLUGIN_ABI 1

/* What is to be computed. `kind` is "dot", "convert" or "scalar". dot: d = c + sum a[i]*b[i], i < k; with scales
 * (scale_block > 0) product i is multiplied by scale_a[i / scale_block] * scale_b[i / scale_block]. convert: a -> d.
 * scalar: `operation` ("add", "mul", "fma", ...) on operands of format a. Format names are those of case text; unused
 * names are "". `rounding` is "nearest_even", "toward_zero", "up", "down", "nearest_away" or "odd". */
struct mmafuzz_op {
  const char* kind;
  const char* operation;
  const char* a;
  const char* b;
  const char* c;
  const char* d;
  const char* scale_a;
  const char* scale_b;
  const char* rounding;
  int32_t k;
  int32_t scale_block;
};

/* n cases. dot: a and b hold n * k encodings, case after case; c holds n; scale_a and scale_b n * ceil(k / scale_block)
 * (NULL without scales). convert: a holds n. scalar: a holds n * arity. The plugin writes n results; a result with
 * bits above the width of d's format is an error. */
struct mmafuzz_batch {
  size_t n;
  const uint64_t* a;
  const uint64_t* b;
  const uint64_t* c;
  const uint64_t* scale_a;
  const uint64_t* scale_b;
  uint64_t* result;
};

/* Returns MMAFUZZ_PLUGIN_ABI as the plugin was compiled with it. */
int mmafuzz_plugin_abi(void);

/* A name for reports, e.g. "example.truncating_dot". */
const char* mmafuzz_plugin_name(void);

/* Returns 1 if the plugin evaluates this op; otherwise 0, with a reason of at most size - 1 characters in `reason`. */
int mmafuzz_plugin_supports(const struct mmafuzz_op* op, char* reason, size_t size);

/* Evaluates a batch of a supported op. Returns 0, or another value if the unit failed. */
int mmafuzz_plugin_run(const struct mmafuzz_op* op, const struct mmafuzz_batch* batch);

/* Optional: the unit that this one claims to equal bit for bit on a supported op, for example
 * "model:hopper/mma.m16n8k16.f32.f16.f16.f32", or NULL for none. A case on which the two differ is a contract
 * divergence. */
const char* mmafuzz_plugin_equals(const struct mmafuzz_op* op);

#ifdef __cplusplus
}
#endif

#endif
