// Rates of the dot units on one core, k=16 fp16 to fp32 unless named otherwise. docs/performance.md has the figures.
#include <benchmark/benchmark.h>

#include "arithmetic/counter_rng.h"
#include "arithmetic/evaluate_dot.h"
#include "core/registry.h"
#include "oracles/families.h"
#include "oracles/units/function_unit.h"
#include "oracles/units/model_rows.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

constexpr size_t batch_cases = 4096;  // 68 bytes each: the batch stays in the second-level cache

const Registry& registry() {
  static const Registry all = oracle_registry();
  return all;
}

/// Finite operands with exponents near 0, as a well-scaled GEMM has them; the structured generator's specials would measure
/// the scalar fallback.
Batch finite_batch(const Op& op) {
  Batch batch(op);
  batch.resize(batch_cases);
  for (size_t i = 0; i < batch.size(); ++i) {
    CounterRng rng(1, i);
    for (size_t column = 0; column < 3; ++column) {
      const FormatFields& f = op.inputs()[column].format.fields();
      for (int j = 0; j < batch.inputs()[column].count(); ++j) {
        const uint64_t exponent = static_cast<uint64_t>(f.bias + rng.between(-5, 2));
        const uint64_t code = exponent << f.fraction_bits | (rng.next() & f.fraction_mask()) | (rng.next() & 1 ? f.sign_bit() : 0);
        batch.inputs()[column].set(i, j, f.in_container(code));
      }
    }
  }
  return batch;
}

void run_unit(benchmark::State& state, const std::string& name, const Batch& batch) {
  const auto unit = registry().bind(name, batch.op());
  if (!unit) {
    state.SkipWithError(unit.refusal().reason.c_str());
    return;
  }
  Outcomes outcomes;
  for (auto _ : state) {
    (*unit)->run(batch, outcomes);
    benchmark::DoNotOptimize(outcomes.results.data());
  }
  state.counters["dots/s"] = benchmark::Counter(double(state.iterations()) * double(batch.size()), benchmark::Counter::kIsRate);
}

void finite(benchmark::State& state, const std::string& name, const std::string& ab, int k) {
  run_unit(state, name, finite_batch(dot_op(ab, "fp32", "fp32", k)));
}

void finite_to_fp16(benchmark::State& state, const std::string& name, const std::string& ab, int k) {
  run_unit(state, name, finite_batch(dot_op(ab, "fp16", "fp16", k)));
}

void structured(benchmark::State& state, const std::string& name, const std::string& ab, int k) {
  const Op op = dot_op(ab, "fp32", "fp32", k);
  Batch batch;
  StructuredGenerator(op, 1).fill(0, batch_cases, batch);
  run_unit(state, name, batch);
}

/// The scalar kernel on the same batch, one dot after the other.
void scalar_kernel(benchmark::State& state, const std::string& row_name) {
  const ModelRow& row = *find_model_row(row_name);
  const Batch batch = finite_batch(row.op);
  DotCase one(row.op);
  uint64_t result = 0;
  for (auto _ : state)
    for (size_t i = 0; i < batch.size(); ++i) benchmark::DoNotOptimize(result = evaluate_dot(row.model, one.load(batch, i)));
  state.counters["dots/s"] = benchmark::Counter(double(state.iterations()) * double(batch.size()), benchmark::Counter::kIsRate);
}

void generator(benchmark::State& state) {
  const StructuredGenerator generator(dot_op("fp16", "fp32", "fp32", 16), 1);
  Batch batch;
  uint64_t first = 0;
  for (auto _ : state) generator.fill(first += batch_cases, batch_cases, batch);
  state.counters["cases/s"] = benchmark::Counter(double(state.iterations()) * double(batch_cases), benchmark::Counter::kIsRate);
}

const std::string hopper = "hopper/mma.m16n8k16.f32.f16.f16.f32";

BENCHMARK_CAPTURE(finite, fused_vector_hopper_fp16, "model:" + hopper, "fp16", 16);
BENCHMARK_CAPTURE(finite, fused_vector_ampere_fp16, "model:ampere/mma.m16n8k16.f32.f16.f16.f32", "fp16", 16);
BENCHMARK_CAPTURE(finite, fused_vector_hopper_bf16, "model:hopper/mma.m16n8k16.f32.bf16.bf16.f32", "bf16", 16);
BENCHMARK_CAPTURE(finite, fused_vector_hopper_wgmma_e4m3_k32, "model:hopper/wgmma.m64n8k32.f32.e4m3.e4m3.f32", "e4m3", 32);
BENCHMARK_CAPTURE(finite_to_fp16, fused_vector_hopper_fp16, "model:hopper/mma.m16n8k16.f16.f16.f16.f16", "fp16", 16);
BENCHMARK_CAPTURE(structured, fused_vector_hopper_fp16, "model:" + hopper, "fp16", 16);
BENCHMARK_CAPTURE(scalar_kernel, hopper_fp16, hopper);
BENCHMARK_CAPTURE(finite, exact_fp16, "exact", "fp16", 16);
BENCHMARK_CAPTURE(structured, exact_fp16, "exact", "fp16", 16);
BENCHMARK_CAPTURE(finite, exact_bf16, "exact", "bf16", 16);
BENCHMARK_CAPTURE(finite, exact_mpfr_fp16, "exact:mpfr", "fp16", 16);
BENCHMARK_CAPTURE(finite, exact_bigint_fp16, "exact:bigint", "fp16", 16);
BENCHMARK_CAPTURE(finite, ieee_fma_fp16, "ieee:fma", "fp16", 16);
BENCHMARK_CAPTURE(finite, slow_twin_hopper_fp16, "twin:" + hopper, "fp16", 16);
BENCHMARK_CAPTURE(finite, cdna1_fp16, "model:cdna1/mfma.16x16x16.f32.f16.f16.f32", "fp16", 16);
BENCHMARK_CAPTURE(finite, cdna2_fp16, "model:cdna2/mfma.16x16x16.f32.f16.f16.f32", "fp16", 16);
BENCHMARK_CAPTURE(finite, cdna3_fp16, "model:cdna3/mfma.16x16x16.f32.f16.f16.f32", "fp16", 16);
BENCHMARK(generator);

}  // namespace
}  // namespace mmafuzz
