// mmafuzz bench rate: quick rates of units on this machine. The documented figures come from bench/ (Google Benchmark).
#include <fmt/core.h>

#include <chrono>

#include "bench/bench.h"
#include "oracles/models/aligned_sum_simd.h"
#include "search/structured_generator.h"

namespace mmafuzz {

void add_bench_rate(Arguments& bench, int& status) {
  struct Options {
    std::string op = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=16";
    std::vector<std::string> units = {"model:hopper/mma.m16n8k16.f32.f16.f16.f32", "exact", "exact:mpfr", "ieee:fma"};
    double seconds = 0.5;
  };
  auto options = std::make_shared<Options>();
  Arguments* rate = bench.add_subcommand("rate", "Cases per second of units, one thread, structured operands");
  rate->add_option("--op", options->op, "op line");
  rate->add_option("--units", options->units, "units, comma-separated");
  rate->add_option("--seconds", options->seconds, "time per unit")->check(in_range(0.01, 3600.0));
  rate->footer("Example: mmafuzz bench rate --units exact,exact:bigint --seconds 2");
  rate->callback([options, &status] {
    const Op op = op_from_text(options->op);
    Batch batch(op);
    StructuredGenerator(op, 1).fill(0, 4096, batch);
    fmt::print("{}  (vector target {})\n", to_text(op), simd_target_name());
    for (const std::string& name : split_units(options->units)) {
      const std::unique_ptr<Unit> unit = bind_or_fail(name, op);
      Outcomes outcomes;
      size_t cases = 0;
      const auto start = std::chrono::steady_clock::now();
      double elapsed = 0;
      do {
        unit->run(batch, outcomes);
        cases += batch.size();
        elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      } while (elapsed < options->seconds);
      fmt::print("{:60} {:10.3f} million cases per second\n", name, double(cases) / elapsed / 1e6);
    }
    status = exit_ok;
  });
}

}  // namespace mmafuzz
