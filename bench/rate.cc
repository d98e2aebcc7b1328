// mmafuzz bench rate: quick rates of units on this machine. The documented figures come from bench/ (Google Benchmark).
#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "bench/bench.h"
#include "oracles/models/aligned_sum_simd.h"
#include "oracles/models/model_rows.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

constexpr size_t rate_cases = 4096;

/// Millions of cases a second.
double rate_of(const Unit& unit, const Batch& batch, double seconds) {
  Outcomes outcomes;
  size_t cases = 0;
  const auto start = std::chrono::steady_clock::now();
  double elapsed = 0;
  do {
    unit.run(batch, outcomes);
    cases += batch.size();
    elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  } while (elapsed < seconds);
  return double(cases) / elapsed / 1e6;
}

/// The rates of all model rows, slowest first by products a second.
void print_all_rates(double seconds) {
  struct Rate {
    std::string unit;
    int k;
    double cases;
    double products() const { return cases * k; }
  };
  std::vector<Rate> rates;
  for (const ModelRow& row : model_rows()) {
    Batch batch(row.op);
    StructuredGenerator(row.op, 1).fill(0, rate_cases, batch);
    const std::string name = "model:" + row.name();
    rates.push_back({name, row.op.k, rate_of(*bind_or_fail(name, row.op), batch, seconds)});
  }
  std::sort(rates.begin(), rates.end(), [](const Rate& x, const Rate& y) { return x.products() < y.products(); });
  fmt::print("{} rows, structured operands, one thread, vector target {}; millions a second\n{:>10} {:>10} {:>4}  unit\n",
             rates.size(), simd_target_name(), "products", "dots", "k");
  for (const Rate& r : rates) fmt::print("{:10.1f} {:10.2f} {:4}  {}\n", r.products(), r.cases, r.k, r.unit);
}

}  // namespace

void add_bench_rate(Arguments& bench, int& status) {
  struct Options {
    std::string op = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=16";
    std::vector<std::string> units = {"model:hopper/mma.m16n8k16.f32.f16.f16.f32", "exact", "exact:mpfr", "ieee:fma"};
    double seconds = 0.5;
    bool all = false;
  };
  auto options = std::make_shared<Options>();
  Arguments* rate = bench.add_subcommand("rate", "Cases per second of units, one thread, structured operands");
  rate->add_option("--op", options->op, "op line");
  rate->add_option("--units", options->units, "units, comma-separated");
  rate->add_flag("--all", options->all, "every model row on its own op, slowest first");
  rate->add_option("--seconds", options->seconds, "time per unit")->check(in_range(0.01, 3600.0));
  rate->footer("Example: mmafuzz bench rate --units exact,exact:bigint --seconds 2");
  rate->callback([options, &status] {
    status = exit_ok;
    if (options->all) return print_all_rates(options->seconds);
    const Op op = op_from_text(options->op);
    Batch batch(op);
    StructuredGenerator(op, 1).fill(0, rate_cases, batch);
    fmt::print("{}  (vector target {})\n", to_text(op), simd_target_name());
    for (const std::string& name : split_units(options->units))
      fmt::print("{:60} {:10.3f} million cases per second\n", name,
                 rate_of(*bind_or_fail(name, op), batch, options->seconds));
  });
}

}  // namespace mmafuzz
