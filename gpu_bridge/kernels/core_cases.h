// How the cases of a CUDA-core instruction are handed to it, one or two at a time. For host and device.
#pragma once

#include "arithmetic/host_device.h"

namespace mmafuzz {

/// Cases i * I::cases and following, as many as I takes and there are: I::run(in, out) gets `arity` encodings of each,
/// at most three in all, and gives one result for each. What has no case is 0.
template <class I>
MMAFUZZ_HD void run_cases(uint64_t i, const uint64_t* operands, int arity, uint64_t* results, uint64_t count) {
  const uint64_t first = i * I::cases, last = first + I::cases < count ? first + I::cases : count;
  uint64_t in[3] = {}, out[2] = {};
  for (uint64_t j = first * uint64_t(arity); j < last * uint64_t(arity); ++j)
    in[j - first * uint64_t(arity)] = operands[j];
  I::run(in, out);
  for (uint64_t j = first; j < last; ++j) results[j] = out[j - first];
}

}  // namespace mmafuzz
