// What happened in the arithmetic of one dot product, step by step. Kernels are templates over a trace type: a type
// whose `enabled` is false costs nothing; any other receives one Step after each rounding.
#pragma once

#include "arithmetic/kernel_table.h"

namespace mmafuzz {

/// One term of a step, as the adder saw it.
struct Addend {
  enum class Source : uint8_t { product, c, group, partial_sum, first_sum };
  Source source;
  /// A product's in the dot, counted in each instruction as the kernel adds them (added_at); a group's or first sum's
  /// in the instruction, a partial sum's in the step.
  int16_t index;
  NumberClass cls;
  bool negative;
  bool lost;             ///< alignment dropped nonzero bits
  uint64_t significand;  ///< exact magnitude = significand * 2^exponent
  int exponent;
  int scale_exponent;  ///< exponent that is compared for the greatest one
  int shift;           ///< greatest exponent minus scale_exponent
  int64_t kept;        ///< signed multiple of the step's unit that entered the sum
};

/// The part of an addend that does not depend on the alignment; the rest is zero.
MMAFUZZ_HD inline Addend make_addend(Addend::Source source, int index, NumberClass cls, bool negative,
                                     uint64_t significand, int exponent, int scale_exponent) {
  Addend t{};
  t.source = source;
  t.index = static_cast<int16_t>(index);
  t.cls = cls;
  t.negative = negative;
  t.significand = significand;
  t.exponent = exponent;
  t.scale_exponent = scale_exponent;
  return t;
}

/// One step: aligned terms, their sum, one rounding.
struct Step {
  enum class Kind : uint8_t { special, fused_sum, exact_sum, second_stage, ieee_add, ieee_multiply, ieee_fma };
  static constexpr int max_addends = max_instruction_k + 1;
  Kind kind = Kind::fused_sum;
  int instruction = 0;         ///< index of the instruction along k
  int block = 0;               ///< index of the block in that instruction
  int count = 0;               ///< number of addends
  Addend addend[max_addends];  ///< only the first `count` are written
  int greatest_exponent = 0;
  bool floor_decided = false;  ///< the greatest exponent came from a zero term or the clamp
  int unit_exponent = 0;       ///< one unit of `kept` and `sum` weighs 2^unit_exponent
  bool aligned = true;         ///< kept, sum and unit_exponent are meaningful
  int64_t sum = 0;
  Rounded rounded;
  uint64_t result = 0;
};

struct NoTrace {
  static constexpr bool enabled = false;
  MMAFUZZ_HD void operator()(const Step&) {}
};

}  // namespace mmafuzz
