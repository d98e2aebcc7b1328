// Rates of the dot units on one core, k=16 fp16 to fp32 unless named otherwise. docs/notes/2026-11-21-rates.md
// has the figures.
#include <benchmark/benchmark.h>

#include "arithmetic/counter_rng.h"
#include "arithmetic/evaluate_dot.h"
#include "core/registry.h"
#include "core/text.h"
#include "oracles/exact/exact_dot.h"
#include "oracles/families.h"
#include "oracles/ieee/ieee_dot.h"
#include "core/function_unit.h"
#include "oracles/models/model_rows.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

constexpr size_t batch_cases = 4096;  // 68 bytes each: the batch stays in the second-level cache

const Registry& registry() {
  static const Registry all = oracle_registry();
  return all;
}

/// Finite operands with exponents from -5 to 2, as in a well-scaled GEMM.
Batch finite_batch(const Op& op) {
  Batch batch(op, batch_cases);
  for (size_t i = 0; i < batch.size(); ++i) {
    CounterRng rng(1, i);
    for (size_t column = 0; column < 3; ++column) {
      const FormatFields& f = op.inputs()[column].format.fields();
      for (int j = 0; j < batch.inputs()[column].count(); ++j) {
        const uint64_t exponent = static_cast<uint64_t>(f.bias + rng.between(-5, 2));
        const uint64_t fraction = rng.next() & f.fraction_mask();
        const uint64_t sign = rng.next() & 1 ? f.sign_bit() : 0;
        const uint64_t code = exponent << f.fraction_bits | fraction | sign;
        batch.inputs()[column].set(i, j, f.in_container(code));
      }
    }
  }
  return batch;
}

void count_dots(benchmark::State& state, size_t per_iteration) {
  state.counters["dots/s"] =
      benchmark::Counter(double(state.iterations()) * double(per_iteration), benchmark::Counter::kIsRate);
}

/// Measures all units of a comma-separated list together on the batch.
void run_units(benchmark::State& state, const std::string& names, const Batch& batch) {
  std::vector<std::unique_ptr<Unit>> units;
  for (const std::string& name : words_of(names, ',')) {
    auto unit = registry().bind(name, batch.op());
    if (!unit) return state.SkipWithError(unit.refusal().reason.c_str());
    units.push_back(std::move(*unit));
  }
  Outcomes outcomes;
  for (auto _ : state) {
    for (const auto& unit : units) {
      unit->run(batch, outcomes);
      benchmark::DoNotOptimize(outcomes.results.data());
    }
  }
  count_dots(state, batch.size());
}

void finite(benchmark::State& state, const std::string& name, const std::string& ab, int k) {
  run_units(state, name, finite_batch(dot_op(ab, "fp32", "fp32", k)));
}

void finite_to_fp16(benchmark::State& state, const std::string& name, const std::string& ab, int k) {
  run_units(state, name, finite_batch(dot_op(ab, "fp16", "fp16", k)));
}

Batch structured_batch(const Op& op, size_t cases = batch_cases) {
  Batch batch;
  StructuredGenerator(op, 1).fill(0, cases, batch);
  return batch;
}

void structured(benchmark::State& state, const std::string& names, const std::string& ab, int k) {
  run_units(state, names, structured_batch(dot_op(ab, "fp32", "fp32", k)));
}

/// As structured(), on 32 cases: about as many as one engine input has.
void structured_small(benchmark::State& state, const std::string& names, const std::string& ab, int k) {
  run_units(state, names, structured_batch(dot_op(ab, "fp32", "fp32", k), 32));
}

/// Measures a function of one dot on a structured batch, one dot after the other.
template <class Evaluate>
void one_by_one(benchmark::State& state, const Op& op, const Evaluate& evaluate) {
  const Batch batch = structured_batch(op);
  DotCase one(op);
  uint64_t result = 0;
  for (auto _ : state)
    for (size_t i = 0; i < batch.size(); ++i) benchmark::DoNotOptimize(result = evaluate(one.load(batch, i)));
  count_dots(state, batch.size());
}

void scalar_kernel(benchmark::State& state, const std::string& row_name) {
  const ModelRow& row = *find_model_row(row_name);
  one_by_one(state, row.op, [&](const DotOperands& in) { return evaluate_dot(row.model, in); });
}

void one_by_one_exact(benchmark::State& state, const std::string& ab) {
  const Op op = dot_op(ab, "fp32", "fp32", 16);
  one_by_one(state, op, exact::FastDot(op));
}

void integer_ieee(benchmark::State& state, DotOrder order) {
  const Op op = dot_op("fp16", "fp32", "fp32", 16);
  one_by_one(state, op, IeeeDot(op, order));
}

void generator(benchmark::State& state) {
  const StructuredGenerator generator(dot_op("fp16", "fp32", "fp32", 16), 1);
  Batch batch;
  uint64_t first = 0;
  for (auto _ : state) generator.fill(first += batch_cases, batch_cases, batch);
  state.counters["cases/s"] =
      benchmark::Counter(double(state.iterations()) * double(batch_cases), benchmark::Counter::kIsRate);
}

/// The units that a fuzz target evaluates on every case: the exact result, three IEEE orders, and models.
const std::string all_parties =
    "exact,ieee:fma,ieee:serial,ieee:pairwise,model:volta/mma.m8n8k4.f32.f16.f16.f32,model:turing/"
    "mma.m16n8k8.f32.f16.f16.f32,"
    "model:ampere/mma.m16n8k16.f32.f16.f16.f32,model:hopper/mma.m16n8k16.f32.f16.f16.f32,"
    "model:cdna1/mfma.16x16x16.f32.f16.f16.f32,model:cdna2/mfma.16x16x16.f32.f16.f16.f32,model:cdna3/"
    "mfma.16x16x16.f32.f16.f16.f32";

const std::string hopper = "hopper/mma.m16n8k16.f32.f16.f16.f32";

BENCHMARK_CAPTURE(finite, fused_vector_hopper_fp16, "model:" + hopper, "fp16", 16);
BENCHMARK_CAPTURE(finite, fused_vector_ampere_fp16, "model:ampere/mma.m16n8k16.f32.f16.f16.f32", "fp16", 16);
BENCHMARK_CAPTURE(finite, fused_vector_hopper_bf16, "model:hopper/mma.m16n8k16.f32.bf16.bf16.f32", "bf16", 16);
BENCHMARK_CAPTURE(finite, fused_vector_hopper_wgmma_e4m3_k32, "model:hopper/wgmma.m64n8k32.f32.e4m3.e4m3.f32", "e4m3",
                  32);
BENCHMARK_CAPTURE(finite_to_fp16, fused_vector_hopper_fp16, "model:hopper/mma.m16n8k16.f16.f16.f16.f16", "fp16", 16);
BENCHMARK_CAPTURE(structured, fused_vector_hopper_fp16, "model:" + hopper, "fp16", 16);
BENCHMARK_CAPTURE(structured, fused_vector_ampere_fp16, "model:ampere/mma.m16n8k16.f32.f16.f16.f32", "fp16", 16);
BENCHMARK_CAPTURE(structured, fused_vector_turing_fp16, "model:turing/mma.m16n8k8.f32.f16.f16.f32", "fp16", 16);
BENCHMARK_CAPTURE(structured, fused_vector_volta_fp16, "model:volta/mma.m8n8k4.f32.f16.f16.f32", "fp16", 16);
BENCHMARK_CAPTURE(scalar_kernel, hopper_fp16, hopper);
BENCHMARK_CAPTURE(structured, exact_fp16, "exact", "fp16", 16);
BENCHMARK_CAPTURE(structured, exact_bf16, "exact", "bf16", 16);
BENCHMARK_CAPTURE(one_by_one_exact, fp16, "fp16");
BENCHMARK_CAPTURE(one_by_one_exact, bf16, "bf16");
BENCHMARK_CAPTURE(structured, exact_mpfr_fp16, "exact:mpfr", "fp16", 16);
BENCHMARK_CAPTURE(structured, exact_bigint_fp16, "exact:bigint", "fp16", 16);
BENCHMARK_CAPTURE(structured, ieee_fma_fp16, "ieee:fma", "fp16", 16);
BENCHMARK_CAPTURE(structured, ieee_serial_fp16, "ieee:serial", "fp16", 16);
BENCHMARK_CAPTURE(structured, ieee_pairwise_fp16, "ieee:pairwise", "fp16", 16);
BENCHMARK_CAPTURE(integer_ieee, fma_fp16, DotOrder::fma);
BENCHMARK_CAPTURE(structured, slow_twin_hopper_fp16, "twin:" + hopper, "fp16", 16);
BENCHMARK_CAPTURE(structured, cdna1_fp16, "model:cdna1/mfma.16x16x16.f32.f16.f16.f32", "fp16", 16);
BENCHMARK_CAPTURE(structured, cdna1_bf16, "model:cdna1/mfma.16x16x8.f32.bf16.bf16.f32", "bf16", 16);
BENCHMARK_CAPTURE(structured, cdna2_fp16, "model:cdna2/mfma.16x16x16.f32.f16.f16.f32", "fp16", 16);
BENCHMARK_CAPTURE(structured, cdna2_bf16, "model:cdna2/mfma_1k.16x16x16.f32.bf16.bf16.f32", "bf16", 16);
BENCHMARK_CAPTURE(structured, cdna3_fp16, "model:cdna3/mfma.16x16x16.f32.f16.f16.f32", "fp16", 16);
BENCHMARK_CAPTURE(structured, cdna3_bf16, "model:cdna3/mfma.16x16x16.f32.bf16.bf16.f32", "bf16", 16);
BENCHMARK_CAPTURE(scalar_kernel, cdna1_fp16, "cdna1/mfma.16x16x16.f32.f16.f16.f32");
BENCHMARK_CAPTURE(scalar_kernel, cdna2_fp16, "cdna2/mfma.16x16x16.f32.f16.f16.f32");
BENCHMARK_CAPTURE(scalar_kernel, cdna3_fp16, "cdna3/mfma.16x16x16.f32.f16.f16.f32");
BENCHMARK_CAPTURE(structured, all_parties_fp16, all_parties, "fp16", 16);
BENCHMARK_CAPTURE(structured_small, all_parties_fp16, all_parties, "fp16", 16);
BENCHMARK(generator);

}  // namespace
}  // namespace mmafuzz
