// A plugin that is wrong on purpose: it computes Hopper's m16n8k16 from fp16 to fp32 with our own arithmetic and says
// that it equals the model, but is one bit off in the corner of corner.h. A search that is worth its time finds it.
#include <cstdio>
#include <cstring>

#include "oracles/models/model_rows.h"
#include "oracles/units/plugin_abi.h"
#include "tests/planted_plugin/corner.h"

namespace {

const mmafuzz::DotModel& hopper() {
  static const mmafuzz::DotModel model = mmafuzz::find_model_row("hopper/mma.m16n8k16.f32.f16.f16.f32")->model;
  return model;
}

bool is(const char* text, const char* expected) { return std::strcmp(text, expected) == 0; }

}  // namespace

int mmafuzz_plugin_abi(void) { return MMAFUZZ_PLUGIN_ABI; }

const char* mmafuzz_plugin_name(void) { return "planted"; }

int mmafuzz_plugin_supports(const mmafuzz_op* op, char* reason, size_t size) {
  if (is(op->kind, "dot") && is(op->a, "fp16") && is(op->b, "fp16") && is(op->c, "fp32") && is(op->d, "fp32") &&
      op->k == 16 && op->scale_block == 0 && is(op->rounding, "nearest_even"))
    return 1;
  std::snprintf(reason, size, "only dots of 16 fp16 products onto fp32");
  return 0;
}

const char* mmafuzz_plugin_equals(const mmafuzz_op*) { return "model:hopper/mma.m16n8k16.f32.f16.f16.f32"; }

int mmafuzz_plugin_run(const mmafuzz_op* op, const mmafuzz_batch* batch) {
  mmafuzz::DotOperands in;
  in.k = op->k;
  for (size_t i = 0; i < batch->n; ++i) {
    in.a = batch->a + i * static_cast<size_t>(in.k);
    in.b = batch->b + i * static_cast<size_t>(in.k);
    in.c = batch->c[i];
    mmafuzz::PlantedCorner corner;
    batch->result[i] = evaluate_dot(hopper(), in, corner);
    if (corner.reached) batch->result[i] ^= 1;
  }
  return 0;
}
