// Conversion of an array by arithmetic/convert_bulk.h, for host and device.
#pragma once

#include "arithmetic/convert_bulk.h"

namespace mmafuzz {

/// What all conversions of one array have in common. Plain data.
struct BulkRequest {
  BulkPlan plan;
  uint64_t seed = 0;       ///< of stochastic rounding; the random bits depend on seed and source alone
  bool from_bf16 = false;  ///< whether sources are bf16 encodings (in the low 16 bits), not fp32
};

MMAFUZZ_HD inline BulkResult convert_one(const BulkRequest& r, uint32_t source) {
  const uint32_t fp32 = r.from_bf16 ? fp32_of_bf16(static_cast<uint16_t>(source)) : source;
  return convert_bulk(r.plan, fp32, random_word(r.seed, source, r.plan.rule.random_bits));
}

}  // namespace mmafuzz
