// mmafuzz bench: measurements, one subcommand each.
#include "bench/bench.h"

namespace mmafuzz {

void add_bench(Arguments& app, int& status) {
  Arguments* bench = app.add_subcommand("bench", "Measure units and searches on this machine");
  bench->require_subcommand();
  bench->footer("Example: mmafuzz bench rate --units exact,ieee:fma");
#define MMAFUZZ_BENCH(name) add_bench_##name(*bench, status);
#include "bench/benches.def.h"
#undef MMAFUZZ_BENCH
}

}  // namespace mmafuzz
