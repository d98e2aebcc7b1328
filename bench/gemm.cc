// mmafuzz bench gemm: the rate at which targets of matrix products run an engine's inputs, in inputs and cases per
// second.
#include <fmt/core.h>

#include <algorithm>

#include "arithmetic/corner_encodings.h"
#include "bench/bench.h"
#include "bench/measured_rows.h"
#include "plan/targets.h"
#include "search/byte_codec.h"
#include "search/comparison.h"
#include "search/coverage.h"
#include "search/mutator.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

/// Runs inputs as a fuzz target of matrix products does: each is a case and its neighbours, traced through and
/// evaluated by one unit; the units take turns. `seconds` is processor time.
void measure_rate(const FuzzTarget& target, const Op& op, double seconds, MeasuredRows& rows) {
  const Comparison comparison(op, registry().searched_by_default(op), registry(), properties_of(target));
  std::vector<Coverage> coverages;
  std::vector<Mutator> mutators;
  for (const auto& unit : comparison.units()) {
    coverages.emplace_back(op, nullptr, unit->slicing());
    mutators.emplace_back(op, corner_hints(nullptr, unit->slicing()));
  }
  struct Sink {
    std::vector<uint8_t> reached = std::vector<uint8_t>(size_t(bins::count));
    void hit(int bin) { reached[size_t(bin)] = 1; }
    void impossible(const char*) {}
  } bins_reached;
  const StructuredGenerator generator(op, 1);
  uint64_t inputs = 0, divergences = 0;
  Batch batch;
  Outcomes base;
  const double start = processor_seconds();
  double now = start;
  for (; now - start < seconds; now = processor_seconds(), ++inputs) {
    const size_t unit = inputs % comparison.units().size();
    generator.fill(inputs, 1, batch);
    batch.resize(cases_of_input(op));
    mutators[unit].neighbours(batch, inputs);
    for (size_t i = 0; i < batch.size(); ++i) coverages[unit].observe(batch, i, bins_reached);
    comparison.units()[unit]->run(batch, base);
    comparison.examine_properties(batch, base, unit, inputs,
                                  [&](const Divergence&, uint64_t count) { divergences += count; });
  }
  const double rate = static_cast<double>(inputs) / (now - start);
  const double cases = rate * static_cast<double>(cases_of_input(op));
  const auto reached = std::count(bins_reached.reached.begin(), bins_reached.reached.end(), 1);
  rows.add({{"target", target.name},
            {"op", to_text(op)},
            {"inputs_per_second", rate},
            {"cases_per_second", cases},
            {"bins", reached}},
           fmt::format("{:12} {:>2}x{:>2}x{:>3}{} {:8.0f} inputs/s {:9.0f} cases/s {:5} bins", target.name, op.m, op.n,
                       op.k, op.has_alpha_beta() ? " scaled" : "       ", rate, cases, reached));
}

}  // namespace

void add_bench_gemm(Arguments& bench, int& status) {
  struct Options {
    double seconds = 1;
    MeasuredRows rows;
  };
  auto options = std::make_shared<Options>();
  Arguments* rates =
      bench.add_subcommand("gemm", "Inputs and cases per second of the targets that look at matrix products");
  rates->add_option("--seconds", options->seconds, "processor time per op")->check(in_range(0.01, 3600.0));
  options->rows.add_json_flag(*rates);
  rates->footer("Example: mmafuzz bench gemm --seconds 5");
  rates->callback([options, &status] {
    for (const FuzzTarget& target : fuzz_targets())
      for (const Op& op : ops_of(target))
        if (op.kind == OpKind::gemm) measure_rate(target, op, options->seconds, options->rows);
    options->rows.end();
    status = exit_ok;
  });
}

}  // namespace mmafuzz
