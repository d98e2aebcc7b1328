// mmafuzz bench rate: quick rates of units on this machine. The documented rates are from bench/micro/ (Google
// Benchmark).
#include <fmt/core.h>
#include <hwy/targets.h>

#include <algorithm>
#include <set>

#include "bench/bench.h"
#include "bench/measured_rows.h"
#include "oracles/models/aligned_sum_simd.h"
#include "oracles/models/model_rows.h"
#include "plan/request.h"
#include "search/datapath_walks.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

struct UnitRate {
  std::string unit;
  Op op;
  double cases;  ///< per second
  double products() const { return cases * op.k; }
};

constexpr size_t batch_cases = 4096;

/// Cases per second, by the clock `now`, of run(number of the first case), which evaluates or draws a batch of
/// batch_cases cases.
template <class Run>
double rate_of_batches(double seconds, double (*now)(), Run run) {
  uint64_t cases = 0;
  const double start = now();
  double elapsed = 0;
  do {
    run(cases);
    cases += batch_cases;
    elapsed = now() - start;
  } while (elapsed < seconds);
  return double(cases) / elapsed;
}

UnitRate rate_of(const std::string& name, const Op& op, double seconds, AnswerCounts& answers) {
  Batch batch(op);
  StructuredGenerator(op, 1).fill(0, batch_cases, batch);
  const std::unique_ptr<Unit> unit = bind_or_fail(name, op);
  Outcomes outcomes;
  return {name, op, rate_of_batches(seconds, wall_seconds, [&](uint64_t) {
            unit->run(batch, outcomes);
            answers[name].add(outcomes);
          })};
}

void add(MeasuredRows& rows, const UnitRate& r, const std::string& line) {
  rows.add(
      {{"unit", r.unit}, {"op", to_text(r.op)}, {"vector_target", simd_target_name()}, {"cases_per_second", r.cases}},
      line);
}

/// All model rows, each on its own op, in ascending order of products per second.
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

/// Op lines: the model rows' ops, conversions of every format, scalar operations, integers and matrix products.
std::set<std::string> ops_to_draw() {
  std::set<std::string> lines;
  for (const ModelRow& row : model_rows()) lines.insert(to_text(row.op));
  for (const std::string& name : format_names()) {
    lines.insert("convert from=fp32 to=" + name);
    lines.insert("convert from=" + name + " to=s32");
  }
  for (const char* name : {"fp16", "fp32", "fp64"}) {
    for (const char* operation : {"add", "mul", "div", "sqrt", "fma", "round_to_integral", "less"})
      lines.insert(fmt::format("scalar {} format={}", operation, name));
    lines.insert(fmt::format("gemm a={0} b={0} c={0} d={0} m=8 n=8 k=8", name));
  }
  for (const char* formats : {"a=s8 b=s8 c=s32 d=s32", "a=u8 b=s8 c=s32 d=s32"})
    lines.insert(fmt::format("dot {} k=32", formats));
  return lines;
}

/// The rates of drawing cases: generator, mutator and walks, in ascending order of operands per second.
void measure_draws(MeasuredRows& rows, double seconds) {
  struct DrawRate : UnitRate {
    int operands;  ///< of a case
    double rate() const { return cases * operands; }
  };
  std::vector<DrawRate> rates;
  for (const std::string& line : ops_to_draw()) {
    const Op op = op_from_text(line);
    int operands = 0;
    for (const FieldShape& field : op.inputs()) operands += field.count;
    const auto measure = [&](const char* name, auto run) {
      rates.push_back({{name, op, rate_of_batches(seconds, processor_seconds, run)}, operands});
    };
    Batch batch;
    measure("generator",
            [&, generator = StructuredGenerator(op, 1)](uint64_t first) { generator.fill(first, batch_cases, batch); });
    measure("moves", [&, mutator = Mutator(op, corner_hints(nullptr))](uint64_t first) {
      for (size_t i = 0; i < batch_cases; ++i) {
        CounterRng rng(2, first + i);
        mutator.mutate(batch, i, rng);
      }
    });
    const DatapathWalks walks(op, corner_hints(nullptr), 1);
    if (walks.length())
      measure("walks", [&](uint64_t first) {  // in the order of a search: the shortest part first
        for (size_t i = 0; i < batch_cases; ++i) walks.make(first + i, batch, i);
      });
  }
  std::sort(rates.begin(), rates.end(), [](const DrawRate& x, const DrawRate& y) { return x.rate() < y.rate(); });
  rows.say("what draws cases; millions a second of processor time");
  rows.say(fmt::format("{:>10} {:>10}  by", "operands", "cases"));
  for (const DrawRate& r : rates)
    add(rows, r, fmt::format("{:10.1f} {:10.3f}  {:9}  {}", r.rate() / 1e6, r.cases / 1e6, r.unit, to_text(r.op)));
}

/// Restricts vector code to a target that this machine also supports, such as AVX2 where there is AVX-512.
void take_vector_target(const std::string& name) {
  std::string names;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    names += std::string(names.empty() ? "" : ", ") + hwy::TargetName(target);
    if (name != hwy::TargetName(target)) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    return;
  }
  throw BadInput("this machine's vector targets are " + names + ", not " + name);
}

}  // namespace

void add_bench_rate(Arguments& bench, int& status) {
  struct Options {
    std::string op = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=16";
    std::vector<std::string> units = {"model:hopper/mma.m16n8k16.f32.f16.f16.f32", "exact", "exact:mpfr", "ieee:fma"};
    double seconds = 0.5;
    bool all = false, draws = false;
    std::string vector_target;
    MeasuredRows rows;
  };
  auto options = std::make_shared<Options>();
  Arguments* rate = bench.add_subcommand("rate", "Cases per second of units, one thread, structured operands");
  Argument* op = rate->add_option("--op", options->op, "op line");
  Argument* units = rate->add_option("--units", options->units, "units, comma-separated");
  Argument* all = rate->add_flag("--all", options->all, "every model row on its own op, slowest first");
  Argument* draws = rate->add_flag("--draws", options->draws, "the generator, walks and moves, on an op of every kind");
  for (Argument* other : {op, units, draws}) all->excludes(other);
  rate->add_option("--vector-target", options->vector_target, "a lesser one than the machine's best: AVX2, SSE4, ...")
      ->excludes(draws);
  rate->add_option("--seconds", options->seconds, "time per unit")->check(in_range(0.01, 3600.0));
  options->rows.add_json_flag(*rate);
  rate->footer("Example: mmafuzz bench rate --units exact,exact:bigint --seconds 2");
  rate->callback([options, &status] {
    if (!options->vector_target.empty()) take_vector_target(options->vector_target);
    AnswerCounts answers;
    if (options->all) {
      measure_all(options->rows, options->seconds, answers);
    } else if (options->draws) {
      measure_draws(options->rows, options->seconds);
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
