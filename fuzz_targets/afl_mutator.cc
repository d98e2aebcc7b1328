// AFL++'s custom mutator interface over the same mutator as libFuzzer's:
// AFL_CUSTOM_MUTATOR_LIBRARY=<target>_mutator.so.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "fuzz_targets/target.h"

namespace mmafuzz {

void report_bin(int, int) {}
size_t neighbour_factor() { return max_neighbour_factor; }

namespace {

constexpr size_t largest_case = size_t{1} << 13;  ///< bytes

struct State {
  std::unique_ptr<Target> target;
  uint64_t seed;
  uint64_t calls = 0;
  std::vector<uint8_t> buffer;
};

}  // namespace
}  // namespace mmafuzz

extern "C" {

void* afl_custom_init(void*, unsigned seed) {
  try {
    mmafuzz::TargetOptions options = mmafuzz::TargetOptions::parse(0, nullptr);
    options.segment.clear();  // the fuzzing process writes these files
    options.status.clear();
    return new mmafuzz::State{mmafuzz::make_target(options), seed, 0, {}};
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    std::exit(2);
  }
}

size_t afl_custom_fuzz(void* data, uint8_t* input, size_t size, uint8_t** out, uint8_t* add, size_t add_size,
                       size_t max_size) {
  auto* state = static_cast<mmafuzz::State*>(data);
  // AFL++ allows a megabyte; clearing that for each input would take longer than running it.
  max_size = std::min(max_size, std::max(size, mmafuzz::largest_case));
  state->buffer.assign(input, input + size);
  state->buffer.resize(max_size);
  const uint64_t seed = state->seed + 0x9e3779b97f4a7c15u * ++state->calls;
  size_t mutated = 0;
  if (add && add_size && state->calls % 8 == 0)
    mutated = state->target->cross(input, size, add, add_size, state->buffer.data(), max_size, seed);
  if (!mutated) mutated = state->target->mutate(state->buffer.data(), size, max_size, seed);
  *out = state->buffer.data();
  return mutated ? mutated : size;
}

void afl_custom_deinit(void* data) { delete static_cast<mmafuzz::State*>(data); }

}  // extern "C"
