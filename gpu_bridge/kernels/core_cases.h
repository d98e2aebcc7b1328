// Hands cases to a CUDA-core instruction, one or two at a time. For host and device.
#pragma once

#include "arithmetic/host_device.h"

namespace mmafuzz {

/// Runs I on the I::cases cases from number i * I::cases on, as far as they are below `count`. I::run(in, out) reads
/// `arity` encodings of each case, at most three in all, and writes one result for each; inputs beyond `count` are 0.
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
