// Edge coverage for an engine, from code that is compiled with -fsanitize-coverage=trace-pc: each pair of successive
// basic blocks is hashed to a counter. g++ has no other kind of edge coverage; this one works with both compilers and
// both engines.
#include <cstddef>
#include <cstdint>

#if defined(MMAFUZZ_AFL)
extern "C" unsigned char* __afl_area_ptr;
extern "C" void __sanitizer_cov_trace_pc_guard_init(uint32_t* start, uint32_t* stop);
#endif

namespace {

constexpr size_t edges = 1 << 13;

#if defined(MMAFUZZ_AFL)
uint32_t guards[edges];
__attribute__((constructor)) void reserve_map() { __sanitizer_cov_trace_pc_guard_init(guards, guards + edges); }
unsigned char& counter(size_t edge) { return __afl_area_ptr[guards[edge]]; }
#else
__attribute__((used, section("__libfuzzer_extra_counters"))) unsigned char counters[edges];
unsigned char& counter(size_t edge) { return counters[edge]; }
#endif

uintptr_t previous;

}  // namespace

// The linker redirects the calls to this function (--wrap), because engines define one of that name that does nothing.
extern "C" void __wrap___sanitizer_cov_trace_pc() {
  // Relative to this function, because absolute addresses differ from run to run.
  const uintptr_t here = reinterpret_cast<uintptr_t>(__builtin_return_address(0)) -
                         reinterpret_cast<uintptr_t>(&__wrap___sanitizer_cov_trace_pc);
  const uintptr_t block = here * 0x9e3779b97f4a7c15u;
  unsigned char& count = counter((block ^ (previous >> 1)) >> 40 & (edges - 1));
  if (count < 255) ++count;
  previous = block;
}
