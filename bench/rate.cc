// mmafuzz bench rate: quick rates of units on this machine. The documented figures come from bench/ (Google Benchmark).
#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "bench/bench.h"
#include "bench/measured_rows.h"
#include "oracles/models/aligned_sum_simd.h"
#include "oracles/models/model_rows.h"
#include "plan/judge_answers.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

struct UnitRate {
  std::string unit;
  Op op;
  double cases;  ///< a second
  double products() const { return cases * op.k; }
};

UnitRate rate_of(const std::string& name, const Op& op, double seconds, AnswerCounts& answers) {
  Batch batch(op);
  StructuredGenerator(op, 1).fill(0, 4096, batch);
  const std::unique_ptr<Unit> unit = bind_or_fail(name, op);
  Outcomes outcomes;
  size_t cases = 0;
  const auto start = std::chrono::steady_clock::now();
  double elapsed = 0;
  do {
    unit->run(batch, outcomes);
    answers[name].add(outcomes);
    cases += batch.size();
    elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  } while (elapsed < seconds);
  return {name, op, double(cases) / elapsed};
}

void add(MeasuredRows& rows, const UnitRate& r, const std::string& line) {
  rows.add(
      {{"unit", r.unit}, {"op", to_text(r.op)}, {"vector_target", simd_target_name()}, {"cases_per_second", r.cases}},
      line);
}

/// All model rows, each on its own op, slowest first by products a second.
void measure_all(MeasuredRows& rows, double seconds, AnswerCounts& answers) {
  std::vector<UnitRate> rates;
  for (const ModelRow& row : model_rows()) rates.push_back(rate_of("model:" + row.name(), row.op, seconds, answers));
  std::sort(rates.begin(), rates.end(),
            [](const UnitRate& x, const UnitRate& y) { return x.products() < y.products(); });
  rows.say(fmt::format("{} rows, structured operands, one thread, vector target {}; millions a second", rates.size(),
                       simd_target_name()));
  rows.say(fmt::format("{:>10} {:>10} {:>4}  unit", "products", "dots", "k"));
  for (const UnitRate& r : rates)
    add(rows, r, fmt::format("{:10.1f} {:10.2f} {:4}  {}", r.products() / 1e6, r.cases / 1e6, r.op.k, r.unit));
}

}  // namespace

void add_bench_rate(Arguments& bench, int& status) {
  struct Options {
    std::string op = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=16";
    std::vector<std::string> units = {"model:hopper/mma.m16n8k16.f32.f16.f16.f32", "exact", "exact:mpfr", "ieee:fma"};
    double seconds = 0.5;
    bool all = false;
    MeasuredRows rows;
  };
  auto options = std::make_shared<Options>();
  Arguments* rate = bench.add_subcommand("rate", "Cases per second of units, one thread, structured operands");
  rate->add_option("--op", options->op, "op line");
  rate->add_option("--units", options->units, "units, comma-separated");
  rate->add_flag("--all", options->all, "every model row on its own op, slowest first");
  rate->add_option("--seconds", options->seconds, "time per unit")->check(in_range(0.01, 3600.0));
  options->rows.add_json_flag(*rate);
  rate->footer("Example: mmafuzz bench rate --units exact,exact:bigint --seconds 2");
  rate->callback([options, &status] {
    AnswerCounts answers;
    if (options->all) {
      measure_all(options->rows, options->seconds, answers);
    } else {
      const Op op = op_from_text(options->op);
      options->rows.say(fmt::format("{}  (vector target {})", to_text(op), simd_target_name()));
      for (const std::string& name : split_units(options->units)) {
        const UnitRate r = rate_of(name, op, options->seconds, answers);
        add(options->rows, r, fmt::format("{:60} {:10.3f} million cases per second", name, r.cases / 1e6));
      }
    }
    options->rows.end();
    status = judge_answers(answers, exit_ok);
  });
}

}  // namespace mmafuzz
