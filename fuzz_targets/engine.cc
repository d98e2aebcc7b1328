// The entry points of libFuzzer, which AFL++'s driver calls too. Functional coverage goes into extra counters: a bin is
// a counter, and the focus slot is its value, because engines distinguish eight ranges of a counter's value (1, 2, 3,
// 4-7, 8-15, ...).
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "arithmetic/bins.h"
#include "fuzz_targets/target.h"

#if defined(MMAFUZZ_AFL)
extern "C" unsigned char* __afl_area_ptr;
extern "C" void __sanitizer_cov_trace_pc_guard_init(uint32_t* start, uint32_t* stop);
#endif

namespace mmafuzz {
namespace {

/// By focus slot: a value in the slot's range.
constexpr uint8_t slot_value[8] = {1, 2, 3, 4, 8, 16, 32, 128};

#if defined(MMAFUZZ_AFL)
// Reserved like the guards of an instrumented module, so that the runtime gives each bin an entry of its map.
uint32_t guards[bins::count];
__attribute__((constructor)) void reserve_map() { __sanitizer_cov_trace_pc_guard_init(guards, guards + bins::count); }
#else
__attribute__((used, section("__libfuzzer_extra_counters"))) volatile uint8_t counters[bins::count];
#endif

std::unique_ptr<Target> target;

}  // namespace

// An execution costs AFL++ two switches between processes and libFuzzer almost nothing, so that AFL++ gets larger
// batches.
#if defined(MMAFUZZ_AFL)
size_t neighbour_factor() { return max_neighbour_factor; }
#else
size_t neighbour_factor() { return 1; }
#endif

void report_bin(int bin, int slot) {
#if defined(MMAFUZZ_AFL)
  __afl_area_ptr[guards[bin]] = slot_value[slot];
#else
  counters[bin] = slot_value[slot];
#endif
}

}  // namespace mmafuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  try {
    mmafuzz::target = mmafuzz::make_target(mmafuzz::TargetOptions::parse(*argc, *argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    std::exit(2);
  }
  std::atexit([] { mmafuzz::target->finish(); });
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    mmafuzz::target->run(data, size);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    std::abort();
  }
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  const size_t mutated = mmafuzz::target->mutate(data, size, max_size, seed);
  return mutated ? mutated : LLVMFuzzerMutate(data, size, max_size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* first, size_t first_size, const uint8_t* second,
                                            size_t second_size, uint8_t* out, size_t max_size, unsigned seed) {
  return mmafuzz::target->cross(first, first_size, second, second_size, out, max_size, seed);
}
