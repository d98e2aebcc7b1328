// mmafuzz bench: measurements, one subcommand each.
#include "cli/bench.h"

namespace mmafuzz::cli {

void add_bench(CLI::App& app, int& status) {
  CLI::App* bench = app.add_subcommand("bench", "Measure units and searches on this machine");
  bench->require_subcommand(1);
  bench->footer("Example: mmafuzz bench rate --units exact,ieee:fma");
  add_bench_bounds(*bench, status);
  add_bench_discriminate(*bench, status);
  add_bench_exhaustive(*bench, status);
  add_bench_mutants(*bench, status);
  add_bench_rate(*bench, status);
  add_bench_triage(*bench, status);
}

}  // namespace mmafuzz::cli
