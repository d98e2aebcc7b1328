// Rates of conversions on one core, of fp32 numbers with moderate exponents to narrow formats: the bulk codec, the
// machine's F16C, and a plain scalar loop. docs/notes/2026-11-21-rates.md has the results.
#include <benchmark/benchmark.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/format.h"
#include "oracles/convert/bulk_convert_simd.h"

namespace mmafuzz {
namespace {

constexpr size_t elements = 1 << 16;  // 256 KiB of sources: the second-level cache

const std::vector<uint32_t>& sources() {
  static const std::vector<uint32_t> all = [] {
    std::vector<uint32_t> list(elements);
    for (size_t i = 0; i < list.size(); ++i) {
      CounterRng rng(1, i);
      const uint32_t exponent = static_cast<uint32_t>(127 + rng.between(-8, 4));
      list[i] = exponent << 23 | static_cast<uint32_t>(rng.next() & 0x807fffff);
    }
    return list;
  }();
  return all;
}

/// `convert()` converts all elements.
template <class Convert>
void measure(benchmark::State& state, const Convert& convert) {
  for (auto _ : state) {
    convert();
    benchmark::ClobberMemory();
  }
  state.counters["conversions/s"] =
      benchmark::Counter(double(state.iterations()) * double(elements), benchmark::Counter::kIsRate);
}

void bulk(benchmark::State& state, const char* to, Rounding rounding, bool with_flags) {
  const BulkConversion conversion(format(to).fields(), RoundingRule{rounding}, 1);
  std::vector<uint8_t> results(elements * 4), flags(elements);
  measure(state,
          [&] { conversion.run(sources().data(), elements, 0, results.data(), with_flags ? flags.data() : nullptr); });
}
BENCHMARK_CAPTURE(bulk, fp16_nearest, "fp16", Rounding::nearest_even, false);
BENCHMARK_CAPTURE(bulk, fp16_nearest_flags, "fp16", Rounding::nearest_even, true);
BENCHMARK_CAPTURE(bulk, fp16_stochastic, "fp16", Rounding::stochastic, false);
BENCHMARK_CAPTURE(bulk, e4m3_nearest, "e4m3", Rounding::nearest_even, false);
BENCHMARK_CAPTURE(bulk, e4m3_up, "e4m3", Rounding::up, false);
BENCHMARK_CAPTURE(bulk, e4m3_stochastic, "e4m3", Rounding::stochastic, false);
BENCHMARK_CAPTURE(bulk, cfloat8_nearest, "cfloat8_1_4_3:7", Rounding::nearest_even, false);
BENCHMARK_CAPTURE(bulk, cfloat8_nearest_flags, "cfloat8_1_4_3:7", Rounding::nearest_even, true);
BENCHMARK_CAPTURE(bulk, cfloat8_stochastic, "cfloat8_1_4_3:7", Rounding::stochastic, false);

void scalar_kernel(benchmark::State& state, const char* to, Rounding rounding) {
  const BulkConversion conversion(format(to).fields(), RoundingRule{rounding}, 1);
  std::vector<uint16_t> results(elements);
  measure(state, [&] {
    for (size_t i = 0; i < elements; ++i)
      results[i] = static_cast<uint16_t>(conversion.convert_one(sources()[i], i).encoding);
  });
}
BENCHMARK_CAPTURE(scalar_kernel, fp16_nearest, "fp16", Rounding::nearest_even);
BENCHMARK_CAPTURE(scalar_kernel, fp16_stochastic, "fp16", Rounding::stochastic);

void plain_scalar(benchmark::State& state, const char* to, Rounding rounding) {
  const FormatFields f = format(to).fields();
  const RoundingRule rule{rounding};
  std::vector<uint16_t> results(elements);
  measure(state, [&] {
    for (size_t i = 0; i < elements; ++i)
      results[i] = static_cast<uint16_t>(convert_number(f, decode(fp32_fields, sources()[i]), rule).encoding);
  });
}
BENCHMARK_CAPTURE(plain_scalar, fp16_nearest, "fp16", Rounding::nearest_even);
BENCHMARK_CAPTURE(plain_scalar, e4m3_nearest, "e4m3", Rounding::nearest_even);

void widen(benchmark::State& state, const char* from) {
  const WideningTable table(format(from).fields());
  std::vector<uint16_t> encodings(elements);
  for (size_t i = 0; i < elements; ++i) encodings[i] = static_cast<uint16_t>(CounterRng(2, i).next());
  std::vector<uint32_t> results(elements);
  measure(state, [&] { table.run(encodings.data(), elements, results.data()); });
}
BENCHMARK_CAPTURE(widen, shp, "shp:15");

#if defined(__x86_64__)
__attribute__((target("f16c,avx"))) void convert_f16c(const uint32_t* from, size_t count, uint16_t* to) {
  for (size_t i = 0; i < count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(reinterpret_cast<const float*>(from + i)), 0));
}

void f16c(benchmark::State& state) {
  if (!__builtin_cpu_supports("f16c")) return state.SkipWithError("no F16C");
  std::vector<uint16_t> results(elements);
  measure(state, [&] { convert_f16c(sources().data(), elements, results.data()); });
}
BENCHMARK(f16c);
#endif

}  // namespace
}  // namespace mmafuzz
