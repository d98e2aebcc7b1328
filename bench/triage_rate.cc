// mmafuzz bench triage: time and memory of the triage of a million raw divergences of a few kinds, and the time of one
// minimization.
#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "bench/bench.h"
#include "bench/measured_rows.h"
#include "core/case_text.h"
#include "core/parallel.h"
#include "search/mutator.h"
#include "search/structured_generator.h"
#include "triage/minimize.h"
#include "triage/triage.h"

namespace mmafuzz {
namespace {

constexpr size_t chunk_cases = 4096;

double memory_mb() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) / 1024;
}

/// Twenty pairs of a row and the row with one override, on which normal results differ.
std::vector<std::vector<std::string>> twenty_pairs() {
  std::vector<std::vector<std::string>> pairs;
  for (const char* row : {"model:volta/mma.m8n8k4.f32.f16.f16.f32", "model:turing/mma.m16n8k8.f32.f16.f16.f32",
                          "model:ampere/mma.m16n8k16.f32.f16.f16.f32", "model:hopper/mma.m16n8k16.f32.f16.f16.f32"})
    for (const char* change : {"fraction_bits=22", "block=3", "output_rounding=nearest_even", "output_fraction_bits=20",
                               "output_rounding=up"})
      pairs.push_back({row, std::string(row) + "?" + change});
  return pairs;
}

/// Calls take(batch, index, verdict) for the first `count` structured cases on which a pair's results differ and are
/// normal.
void each_divergence(const std::vector<std::string>& units, const Op& op, size_t count,
                     const std::function<void(const Batch&, size_t, const Verdict&)>& take) {
  const Judge judge = Judge::bound("equal", units, op, registry());
  const StructuredGenerator generator(op, 1);
  Batch batch;
  for (uint64_t first = 0; count > 0; first += chunk_cases) {
    generator.fill(first, chunk_cases, batch);
    const std::vector<Verdict> verdicts = judge.judge(batch);
    for (size_t i = 0; i < batch.size() && count > 0; ++i) {
      if (!verdicts[i].fails || verdicts[i].cls != ValueClass::normal) continue;
      take(batch, i, verdicts[i]);
      --count;
    }
  }
}

}  // namespace

void add_bench_triage(Arguments& bench, int& status) {
  struct Options {
    size_t divergences = 1000000, minimizations = 200;
    unsigned jobs = hardware_threads();
    MeasuredRows rows;
  };
  auto options = std::make_shared<Options>();
  Arguments* sub = bench.add_subcommand("triage", "Time and memory of triage, and of one minimization");
  sub->add_option("--divergences", options->divergences, "raw divergences, of 20 kinds")
      ->check(unsigned_number())
      ->capture_default_str();
  sub->add_option("--minimizations", options->minimizations, "cases of k = 32 to minimize")
      ->check(unsigned_number())
      ->capture_default_str();
  sub->add_option("--jobs", options->jobs, "threads")->check(in_range(1, 1024))->capture_default_str();
  options->rows.add_json_flag(*sub);
  sub->footer("Example: mmafuzz bench triage --divergences 100000");
  sub->callback([options, &status] {
    const std::string segment =
        std::filesystem::temp_directory_path() / fmt::format("mmafuzz-bench-triage-{}.cases", getpid());
    const std::vector<std::vector<std::string>> pairs = twenty_pairs();
    {
      std::ofstream file(segment, std::ios::binary);
      file << case_text_start;
      const Op op = dot_op("fp16", "fp32", "fp32", 16);
      for (const std::vector<std::string>& units : pairs)
        each_divergence(units, op, options->divergences / pairs.size(),
                        [&](const Batch& batch, size_t i, const Verdict& v) {
                          file << divergence_record(make_divergence("equal", Severity::semantic, batch, i, v.cls,
                                                                    units[0], v.first, units[1], v.second))
                               << record_end;
                        });
    }
    const double before = memory_mb(), begin = wall_seconds();
    Triage triage(registry(), options->jobs);
    read_segment(segment, 0, [&](LoggedDivergence d) { triage.add(d); });
    const std::vector<Bucket> buckets = triage.finish();
    const double seconds = wall_seconds() - begin;
    nlohmann::json row = {{"divergences", triage.added()},
                          {"buckets", buckets.size()},
                          {"seconds", seconds},
                          {"threads", options->jobs},
                          {"megabytes", memory_mb()}};
    options->rows.say(fmt::format(
        "{} divergences, {} MB of segments: {} buckets in {:.1f} s on {} threads, {:.0f} MB of memory ({:.0f} before)",
        triage.added(), std::filesystem::file_size(segment) >> 20, buckets.size(), seconds, options->jobs, memory_mb(),
        before));
    std::filesystem::remove(segment);
    std::vector<double> times;
    const Op op = dot_op("fp16", "fp32", "fp32", 32);
    SmallCases small;
    for (const std::vector<std::string>& units : pairs) {
      each_divergence(units, op, std::max<size_t>(1, options->minimizations / pairs.size()),
                      [&](const Batch& batch, size_t i, const Verdict& v) {
                        const double start = wall_seconds();
                        const Judge judge = Judge::bound("equal", units, op, registry());
                        Causes causes(judge, registry());
                        const Batch single = batch.part(i);
                        Minimizer(judge, causes, small).minimize(single, v.cls, causes.find(single, {v})[0]);
                        times.push_back(wall_seconds() - start);
                      });
    }
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    row.update({{"minimized", times.size()}, {"median_seconds", median}, {"longest_seconds", times.back()}});
    options->rows.add(
        row, fmt::format("minimizing one case of k = 32: {:.1f} ms at the median, {:.1f} ms at most ({} cases)",
                         1e3 * median, 1e3 * times.back(), times.size()));
    options->rows.end();
    status = exit_ok;
  });
}

}  // namespace mmafuzz
