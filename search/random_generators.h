// Plain random operands: the baseline of the structured generator and of guided search. There are three kinds, because
// each misses something else: uniform encodings hold an infinity or a NaN in most dots, normal values never leave the
// middle of the range, spread exponents rarely cancel.
#pragma once

#include "core/batch.h"

namespace mmafuzz {

enum class RandomKind : uint8_t {
  uniform,  ///< every encoding of the container is equally likely
  normal,   ///< standard normal values rounded to nearest; scales are 2^n with normal n
  spread,   ///< finite: sign, exponent field and fraction uniform and independent
};

inline constexpr RandomKind random_kinds[] = {RandomKind::uniform, RandomKind::normal, RandomKind::spread};

const char* name_of(RandomKind kind);

/// Operands of integer formats are uniform in every kind.
class RandomGenerator {
 public:
  RandomGenerator(const Op& op, RandomKind kind, uint64_t seed) : op_(op), kind_(kind), seed_(seed) {}

  /// Writes cases first .. first+count-1 of the stream into batch (resized). Case i depends on op, kind, seed and i
  /// alone.
  void fill(uint64_t first, size_t count, Batch& batch) const;

 private:
  Op op_;
  RandomKind kind_;
  uint64_t seed_;
};

}  // namespace mmafuzz
