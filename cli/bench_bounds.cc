#include "cli/bench.h"
namespace mmafuzz::cli {
void add_bench_bounds(CLI::App& bench, int& status) {}
}
