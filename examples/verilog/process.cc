// The Verilog unit fused_dot as a process of mmafuzz (docs/processes.md): what Verilator made of it, fed with batches.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "Vfused_dot.h"
#include "verilated.h"
#if VM_COVERAGE
#include "verilated_cov.h"
#endif

double sc_time_stamp() { return 0; }

int main(int argc, char** argv) {
  VerilatedContext context;
  context.commandArgs(argc, argv);
  Vfused_dot unit(&context);
  const std::string op = "op dot a=fp16 b=fp16 c=fp32 d=fp32 k=4\n";
  // Its specification: every difference from this model is a contract divergence.
  const char* claim =
      "yes equals model:volta/mma.m8n8k4.f32.f16.f16.f32?"
      "fraction_bits=24,output_rounding=nearest_even,zero_exponent=-512,nan=7fc00000";
  char line[4096];
  while (std::fgets(line, sizeof line, stdin)) {
    size_t n, bytes;
    if (std::strncmp(line, "mmafuzz-process ", 16) == 0) {
      std::puts("mmafuzz-process 1 binary example.fused_dot");
    } else if (std::strncmp(line, "op ", 3) == 0) {
      std::puts(line == op ? claim : "no it takes dot a=fp16 b=fp16 c=fp32 d=fp32 k=4 and its own rounding");
    } else if (std::sscanf(line, "batch %zu %zu", &n, &bytes) == 2 && bytes == n * 20) {
      std::vector<char> payload(bytes);
      std::vector<uint32_t> results(n);
      if (std::fread(payload.data(), 1, bytes, stdin) != bytes) return 1;
      for (size_t i = 0; i < n; ++i) {
        std::memcpy(&unit.a, &payload[8 * i], 8);
        std::memcpy(&unit.b, &payload[8 * (n + i)], 8);
        std::memcpy(&unit.c, &payload[16 * n + 4 * i], 4);
        unit.eval();
        results[i] = unit.d;
      }
      std::printf("results %zu\n", n);
      std::fwrite(results.data(), 4, n, stdout);
      std::puts("end");
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
