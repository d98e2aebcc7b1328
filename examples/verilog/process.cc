// The Verilog unit fused_dot, compiled by Verilator, as a process of mmafuzz (docs/processes.md). Built with --coverage
// it reports which lines each case runs and which bits it toggles, as features that guide a search.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "Vfused_dot.h"
#include "verilated.h"
#if VM_COVERAGE
#include "Vfused_dot___024root.h"  // the counters have no public name
#include "Vfused_dot__Syms.h"
#include "verilated_cov.h"
#endif

double sc_time_stamp() { return 0; }

/// Loads case i of a batch of n cases, whose bytes are all a, then all b, then all c.
static void set_operands(Vfused_dot& unit, const std::vector<char>& batch, size_t n, size_t i) {
  std::memcpy(&unit.a, &batch[8 * i], 8);
  std::memcpy(&unit.b, &batch[8 * (n + i)], 8);
  std::memcpy(&unit.c, &batch[16 * n + 4 * i], 4);
}

#if VM_COVERAGE
/// The number of Verilator's counters of lines, branches and toggled bits. Feature 4 * counter + 0, 1, 2 or 3 means
/// that the counter counted 1, 2, 3 or more.
static const size_t counters = sizeof(Vfused_dot__Syms::__Vcoverage) / sizeof(uint32_t);

static void tell_features(Vfused_dot& unit) {
  auto& count = unit.rootp->vlSymsp->__Vcoverage;
  std::vector<uint32_t> before(count, count + counters);
  // Start from zero operands, so that the case alone decides which bits toggle.
  const QData a = unit.a, b = unit.b;
  const IData c = unit.c;
  unit.a = unit.b = unit.c = 0;
  unit.eval();
  for (auto& one : count) one = 0;
  unit.a = a;
  unit.b = b;
  unit.c = c;
  unit.eval();
  for (size_t i = 0; i < counters; ++i) {
    const size_t counted = count[i];
    if (counted) std::printf("%zu ", 4 * i + (counted < 4 ? counted : 4) - 1);
    count[i] += before[i];  // coverage.dat counts everything
  }
  std::puts("");
}
#endif

int main(int argc, char** argv) {
  VerilatedContext context;
  context.commandArgs(argc, argv);
  Vfused_dot unit(&context);
  const std::string op = "op dot a=fp16 b=fp16 c=fp32 d=fp32 k=4\n";
  // Its specification: every difference from this model is a contract divergence.
  std::string claim =
      "yes equals model:volta/mma.m8n8k4.f32.f16.f16.f32?"
      "fraction_bits=24,output_rounding=nearest_even,zero_exponent=-512,nan=7fc00000";
#if VM_COVERAGE
  claim += " features " + std::to_string(4 * counters);
#endif
  char line[4096];
  while (std::fgets(line, sizeof line, stdin)) {
    size_t n, bytes;
    if (std::strncmp(line, "mmafuzz-process ", 16) == 0) {
      std::puts("mmafuzz-process 1 binary example.fused_dot");
    } else if (std::strncmp(line, "op ", 3) == 0) {
      std::puts(line == op ? claim.c_str() : "no it takes dot a=fp16 b=fp16 c=fp32 d=fp32 k=4 and its own rounding");
    } else if (std::sscanf(line, "batch %zu %zu", &n, &bytes) == 2 && bytes == n * 20) {
      std::vector<char> payload(bytes);
      std::vector<uint32_t> results(n);
      if (std::fread(payload.data(), 1, bytes, stdin) != bytes) return 1;
      for (size_t i = 0; i < n; ++i) {
        set_operands(unit, payload, n, i);
        unit.eval();
        results[i] = unit.d;
      }
      std::printf("results %zu\n", n);
      std::fwrite(results.data(), 4, n, stdout);
      std::puts("end");
#if VM_COVERAGE
    } else if (std::sscanf(line, "features %zu %zu", &n, &bytes) == 2 && bytes == n * 20) {
      std::vector<char> payload(bytes);
      if (std::fread(payload.data(), 1, bytes, stdin) != bytes) return 1;
      std::printf("features %zu\n", n);
      for (size_t i = 0; i < n; ++i) {
        set_operands(unit, payload, n, i);
        tell_features(unit);
      }
      std::puts("end");
#endif
    } else {
      return 1;
    }
    std::fflush(stdout);
  }
#if VM_COVERAGE
  context.coveragep()->write("coverage.dat");  // verilator_coverage --annotate shows the lines that no case reached
#endif
  return 0;
}
