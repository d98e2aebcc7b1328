// Plugins that are wrong in ways that no parameter of a row describes, one for each value of planted_flaw. Each
// computes Ampere's m16n8k16 from fp16 to fp32, two blocks of 8, with our own arithmetic, says that it equals the
// model, and has one flaw of the kinds that hardware has. Triage has to call them unexplained, those that
// count periodic, and those that remember have to be shown as a sequence.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <utility>

#include "arithmetic/evaluate_dot.h"
#include "oracles/models/model_rows.h"
#include "oracles/units/plugin_abi.h"

/// Which flaw: each plugin links its own value (planted_flaw.cc).
extern const int planted_flaw;

namespace {

using namespace mmafuzz;

constexpr int lanes = 16;

const DotModel& ampere() {
  static const DotModel model = find_model_row("ampere/mma.m16n8k16.f32.f16.f16.f32")->model;
  return model;
}

struct Case {
  uint64_t a[lanes], b[lanes], c;
};

uint64_t evaluate(const Case& in) {
  DotOperands operands;
  operands.a = in.a;
  operands.b = in.b;
  operands.c = in.c;
  operands.k = lanes;
  return evaluate_dot(ampere(), operands);
}

bool is_subnormal(uint64_t half) { return (half & 0x7c00) == 0 && (half & 0x3ff) != 0; }
bool is_finite(uint64_t half) { return (half & 0x7c00) != 0x7c00; }

/// Whether some addend lost a run of ones.
struct WorstLoss {
  static constexpr bool enabled = true;
  bool all_ones_lost = false;
  void operator()(const Step& step) {
    for (int i = 0; i < step.count; ++i) {
      const Addend& t = step.addend[i];
      const int dropped = step.unit_exponent - t.exponent;
      if (t.lost && dropped > 1 && dropped < 64 && (t.significand & low_mask(dropped)) == low_mask(dropped))
        all_ones_lost = true;
    }
  }
};

uint64_t flawed(const Case& in) {
  Case changed = in;
  switch (planted_flaw) {
    case 1:  // a dropped lane
      changed.a[5] = 0;
      break;
    case 2:  // a swapped operand at one position
      changed.a[7] = in.a[6];
      break;
    case 3: {  // a wrong sticky bit: a loss of ones only carries into the result
      DotOperands operands;
      operands.a = in.a;
      operands.b = in.b;
      operands.c = in.c;
      operands.k = lanes;
      WorstLoss loss;
      const uint64_t result = evaluate_dot(ampere(), operands, loss);
      return loss.all_ones_lost ? result ^ 1 : result;
    }
    case 4: {  // a stale accumulator: the second block starts from c, not from the first block's sum
      for (int i = 0; i < 8; ++i) changed.a[i] = changed.b[i] = 0;
      break;
    }
    case 5: {  // a rare flipped bit
      uint64_t hash = in.c;
      for (int i = 0; i < lanes; ++i) hash = (hash ^ in.a[i] << 16 ^ in.b[i]) * 0x9e3779b97f4a7c15u;
      const uint64_t result = evaluate(in);
      return (hash >> 40) % 64 == 0 ? result ^ 0x2000 : result;
    }
    case 6:  // a lost sign where c is zero
      if ((in.c & 0x7fffffff) == 0) changed.a[0] &= 0x7fff;
      break;
    case 7:  // one lane flushes subnormal operands
      if (is_subnormal(in.a[3])) changed.a[3] = 0;
      break;
    case 8:  // a product counted twice where its factors are equal
      if (in.a[9] == in.b[9] && is_finite(in.a[9])) changed.a[10] = in.a[9], changed.b[10] = in.b[9];
      break;
    case 9:  // c loses its last bits in large sums
      if ((in.c & 0x7f800000) > 0x48000000 && (in.c & 0x7f800000) != 0x7f800000) changed.c &= ~uint64_t{0xff};
      break;
    case 10:  // one lane reads infinity as the greatest number
      if ((in.a[2] & 0x7fff) == 0x7c00) changed.a[2] = in.a[2] - 1;
      break;
    case 11:  // the blocks are in the wrong order
      for (int i = 0; i < 8; ++i) {
        std::swap(changed.a[i], changed.a[i + 8]);
        std::swap(changed.b[i], changed.b[i + 8]);
      }
      break;
    case 13: {  // a bit that flips now and then, whatever the operands: silent data corruption
      static std::atomic<unsigned> calls{0};
      return evaluate(in) ^ (calls++ % 5 == 0 ? 0x400 : 0);
    }
    case 14: {  // a unit that remembers: the case after an infinite result is a bit off
      static std::atomic<bool> after_infinity{false};
      const uint64_t result = evaluate(in);
      return after_infinity.exchange((result & 0x7fffffff) == 0x7f800000) ? result ^ 1 : result;
    }
    case 15: {  // a unit that counts: every 24th case is a bit off
      static std::atomic<unsigned> calls{0};
      return evaluate(in) ^ (++calls % 24 == 0);
    }
    case 16: {  // a unit that remembers plain cases: a subnormal in one lane after three of them is a bit off
      static std::atomic<int> plain{0};
      if (!is_subnormal(in.a[3])) return ++plain, evaluate(in);
      return evaluate(in) ^ (plain.exchange(0) >= 3);
    }
    case 12:  // a stuck operand bit
      changed.b[12] = in.b[12] | 0x10;
      break;
  }
  return evaluate(changed);
}

bool is(const char* text, const char* expected) { return std::strcmp(text, expected) == 0; }

}  // namespace

int mmafuzz_plugin_abi(void) { return MMAFUZZ_PLUGIN_ABI; }

const char* mmafuzz_plugin_name(void) { return "flawed"; }

int mmafuzz_plugin_supports(const mmafuzz_op* op, char* reason, size_t size) {
  if (is(op->kind, "dot") && is(op->a, "fp16") && is(op->b, "fp16") && is(op->c, "fp32") && is(op->d, "fp32") &&
      op->k == lanes && op->scale_block == 0 && is(op->rounding, "nearest_even"))
    return 1;
  std::snprintf(reason, size, "only dots of 16 fp16 products onto fp32");
  return 0;
}

const char* mmafuzz_plugin_equals(const mmafuzz_op*) { return "model:ampere/mma.m16n8k16.f32.f16.f16.f32"; }

int mmafuzz_plugin_run(const mmafuzz_op*, const mmafuzz_batch* batch) {
  for (size_t i = 0; i < batch->n; ++i) {
    Case in;
    for (int j = 0; j < lanes; ++j) {
      in.a[j] = batch->a[i * lanes + static_cast<size_t>(j)];
      in.b[j] = batch->b[i * lanes + static_cast<size_t>(j)];
    }
    in.c = batch->c[i];
    batch->result[i] = flawed(in);
  }
  return 0;
}
