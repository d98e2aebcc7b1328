// A plugin that claims Hopper's m16n8k16 from fp16 to fp32, and is right but for one parameter of its row: it sums 4
// products at once where 16 are claimed. Triage has to say so.
#include <cstring>

#include "arithmetic/evaluate_dot.h"
#include "oracles/models/model_rows.h"
#include "oracles/units/plugin_abi.h"

namespace {

constexpr char claimed[] = "hopper/mma.m16n8k16.f32.f16.f16.f32";

mmafuzz::DotModel wrong_row() {
  mmafuzz::DotModel model = mmafuzz::find_model_row(claimed)->model;
  model.block = 4;
  return model;
}

}  // namespace

extern "C" {

int mmafuzz_plugin_abi(void) { return MMAFUZZ_PLUGIN_ABI; }
const char* mmafuzz_plugin_name(void) { return "wrong_row"; }

int mmafuzz_plugin_supports(const mmafuzz_op* op, char* reason, size_t size) {
  const bool supported = !std::strcmp(op->kind, "dot") && !std::strcmp(op->a, "fp16") && !std::strcmp(op->b, "fp16") &&
                         !std::strcmp(op->c, "fp32") && !std::strcmp(op->d, "fp32") && op->k == 16 &&
                         !std::strcmp(op->rounding, "nearest_even");
  if (!supported && size > 0) std::strncpy(reason, "only dots of 16 products from fp16 to fp32", size - 1);
  return supported;
}

int mmafuzz_plugin_run(const mmafuzz_op* op, const mmafuzz_batch* batch) {
  static const mmafuzz::DotModel model = wrong_row();
  const size_t k = static_cast<size_t>(op->k);
  for (size_t i = 0; i < batch->n; ++i) {
    mmafuzz::DotOperands in;
    in.a = batch->a + k * i;
    in.b = batch->b + k * i;
    in.c = batch->c[i];
    in.k = op->k;
    batch->result[i] = mmafuzz::evaluate_dot(model, in);
  }
  return 0;
}

const char* mmafuzz_plugin_equals(const mmafuzz_op*) { return "model:hopper/mma.m16n8k16.f32.f16.f16.f32"; }
}
